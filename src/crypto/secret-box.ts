import { createCipheriv, createDecipheriv, createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** Why a sealed text cannot be opened, in a sentence for people. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Keeps secrets unreadable for whoever reads the database alone: AES-256-GCM. */
export class SecretBox {
  /** Says which key has sealed a text, and nothing about the key. */
  private readonly keyId: string;
  private readonly sealing: KeyObject;
  private readonly marking: KeyObject;

  /** `key`: 32 bytes. */
  constructor(key: Buffer) {
    this.sealing = derived(key, 'sealing');
    this.marking = derived(key, 'marking');
    this.keyId = createHmac('sha256', this.marking).update('key id').digest('hex').slice(0, 16);
  }

  /** `owner`: the id of what the text belongs to; opened as another one's it is refused. */
  seal(text: string, owner: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.sealing, iv).setAAD(Buffer.from(owner));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return [VERSION, this.keyId, Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')].join('.');
  }

  /** SealError where another key has sealed it, or it was changed. */
  open(sealed: string, owner: string): string {
    if (!this.hasSealed(sealed)) throw new SealError('the secret was stored under another secret_key; start with that one again, or have the secret given anew');
    const bytes = Buffer.from(sealed.split('.')[2] ?? '', 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, this.sealing, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(owner));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
    } catch (error) {
      throw new SealError('the stored secret is damaged; have it given anew', { cause: error });
    }
  }

  /** Whether this key has sealed or marked it. */
  hasSealed(sealed: string): boolean {
    return sealed.startsWith(`${VERSION}.${this.keyId}.`);
  }

  /** Equal for equal texts; says nothing about them without the key. */
  fingerprint(text: string): string {
    return createHmac('sha256', this.marking).update(text).digest('hex');
  }

  /** A fingerprint that says which key it was made under, and never is one that was made for another purpose. */
  mark(text: string, purpose: string): string {
    return [VERSION, this.keyId, this.fingerprint(`${purpose} ${text}`)].join('.');
  }
}

// Made a key once: with bytes, each use would make one anew, which takes several times as long as what it is used for.
const derived = (key: Buffer, purpose: string): KeyObject => createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `starling secrets ${purpose}`, 32)));
