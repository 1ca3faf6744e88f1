import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1';

/** A sealed text cannot be opened. The message is a sentence for an operator. */
export class SealError extends Error {
  override readonly name = 'SealError';
}

/** Encrypts secrets with AES-256-GCM, so that the database alone does not reveal them. */
export class SecretBox {
  /** Identifies the key that sealed a text, without revealing anything about the key. */
  private readonly keyId: string;
  private readonly sealing: KeyObject;
  private readonly marking: KeyObject;

  /** `key`: 32 bytes. */
  constructor(key: Buffer) {
    this.sealing = derived(key, 'sealing');
    this.marking = derived(key, 'marking');
    this.keyId = createHmac('sha256', this.marking).update('key id').digest('hex').slice(0, 16);
  }

  /** `owner`: the id of the row that the text belongs to. The text cannot be opened for another owner. */
  seal(text: string, owner: string): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.sealing, iv).setAAD(Buffer.from(owner));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return [VERSION, this.keyId, Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')].join('.');
  }

  /** Throws a SealError if another key sealed the text, or if the text was changed. */
  open(sealed: string, owner: string): string {
    if (!this.hasSealed(sealed))
      throw new SealError(
        'the secret was stored with another secret_key; start with that key again, or have the client send the secret again',
      );
    const bytes = Buffer.from(sealed.split('.')[2] ?? '', 'base64url');
    try {
      const decipher = createDecipheriv(CIPHER, this.sealing, bytes.subarray(0, IV_BYTES)).setAAD(Buffer.from(owner));
      decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
    } catch (error) {
      throw new SealError('the stored secret is damaged; have the client send it again', { cause: error });
    }
  }

  /** Whether this key sealed or marked the text. */
  hasSealed(sealed: string): boolean {
    return sealed.startsWith(`${VERSION}.${this.keyId}.`);
  }

  /** Equal for equal texts. Reveals nothing about them without the key. */
  fingerprint(text: string): string {
    return createHmac('sha256', this.marking).update(text).digest('hex');
  }

  /** A fingerprint that identifies its key, and that never equals a fingerprint for another purpose. */
  mark(text: string, purpose: string): string {
    return [VERSION, this.keyId, this.fingerprint(`${purpose} ${text}`)].join('.');
  }
}

// Made into a KeyObject once: from bytes, Node would make one for each use, which takes several times as long as the
// use itself.
const derived = (key: Buffer, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', key, '', `starling secrets ${purpose}`, 32)));
