/** A word that a standard term has replaced. */
export interface ReplacedWord {
  pattern: RegExp;
  /** The term to write instead. */
  instead: string;
  /** A text that the pattern must find, so that a pattern that finds nothing fails. */
  example: string;
  /** The files to search; all texts if absent. */
  within?: RegExp;
  /** Files in which the word has another meaning. */
  except?: { file: RegExp; because: string }[];
}

export const REPLACED: readonly ReplacedWord[] = [
  { pattern: /\bhungry\b/i, instead: 'pending', example: 'the hungry ones' },
  {
    pattern: /\b(?:byLine|lineOf|claimLine|LineGroups|target-line)\b/,
    instead: 'queue, or lock key',
    example: 'slots.byLine',
    except: [{ file: /yaml-source|load-catalog|diagnostics|csv-reader|batch-commands/, because: 'lines of a text' }],
  },
  { pattern: /\b[lL]anes?\b|Lanes?\b/, instead: 'delivery group', example: 'holdLanes' },
  { pattern: /\b[iI]ntakes?(?:[A-Z]\w*)?\b|\bintake_/, instead: 'import', example: "status: 'intake'" },
  { pattern: /\bwithdraw(?:al|n|s)?\b/i, instead: 'removal from joins', example: 'Withdrawal' },
  {
    pattern: /\bopenings?\b|\bopening_/i,
    instead: 'generation',
    example: 'the next opening',
    except: [
      { file: /common\/parsed-size\.ts$/, because: 'the quote that opens a string' },
      { file: /csv-file\.ts$/, because: 'a file is opened' },
    ],
  },
  {
    pattern: /\b(?:un)?(?:tell|told)(?:[A-Z]\w*|\()|\w(?:Told|Untold)\b|\.told\b|\b(?:const|let|private) (?:un)?told\b/,
    instead: 'emit, report or send',
    example: 'this.tellOthers(value)',
  },
  {
    pattern: /\bNotices?\b|\bnotices?[:!?]|\.notices?\b|`notices?`|\bnotices=/,
    instead: 'live event',
    example: '?notices=true',
  },
  { pattern: /\bfollowers?\b|Follower\b/i, instead: 'hook or listener', example: 'RunFollower' },
  { pattern: /\b[lL]etGo(?:With)?\b/, instead: 'releaseLease, finishUnderLease or releaseBody', example: 'letGoWith' },
  {
    pattern: /\b(?:leaveOutside|wasLeftOutside|AnswerLater|leaseLeft)\b|answer-later/,
    instead: 'deferred completion',
    example: 'new AnswerLater()',
  },
  { pattern: /\bredoable\b/, instead: 'relaxedDurability', example: '{ redoable: true }' },
  { pattern: /\bstrangers?\b/i, instead: 'agents of other processes, or unknown people', example: 'text of strangers' },
  {
    pattern: /\bfold(?:s|ed|ing)?\b|\b[Ff]old[A-Z]\w*|[a-z]Fold\b/,
    instead: 'rollup, roll up',
    example: 'ArtifactFold',
  },
  { pattern: /\bswe(?:ep|eps|eping|pt)\b/i, instead: 'cleanup, clean up', example: 'the next sweep' },
  {
    pattern: /\b(?:nextTurn|ReadingTurns|OwnTurn|takeTurn)\b|: Turns\b|'turns'/,
    instead: 'scheduler lock, or yieldToEventLoop',
    example: 'await nextTurn()',
  },
  { pattern: /\bsparing/i, instead: 'throttled', example: 'sparing(() => count())' },
  { pattern: /\bOneAtATime\b/, instead: 'BackgroundLoop', example: 'new OneAtATime()' },
  { pattern: /\bmayHaveMissed\b/, instead: 'resync', example: 'signals.mayHaveMissed' },
  {
    pattern: /\bKind<|\bReading</,
    instead: 'SettingType, ParseResult',
    example: 'Kind<string>',
    within: /^src\/config\//,
  },
  {
    pattern: /(?<!by |typing )\bmistakes?\b|Mistake\b/,
    instead: 'error, problem or diagnostic',
    example: 'every mistake',
  },
  {
    pattern: /\b(?:inOwnTransactions|known-state|own-transactions)\b|\bpersist\(/,
    instead: 'UnitOfWork.inOrder, state-predicate or commitWithRetry',
    example: 'persist(holder)',
  },
  {
    pattern: /\bpatiently\b|\binterruption\b|\b[pP]ace\b/,
    instead: 'retryWhileUnavailable, abortOnSigint or throughput',
    example: 'await patiently(ask)',
    within: /^src\/cli\//,
  },
  {
    pattern: /\brole\.(?:serves|works)\b|\bserves: (?:true|false)\b/,
    instead: 'api, worker',
    example: 'this.role.works',
  },
  { pattern: /Module\.with\(/, instead: 'forRoot', example: 'AppModule.with(options)' },
];

/** Names of files that say how something came about and not what it is. */
export const REPLACED_FILE_NAMES =
  /^(?:given|written)-|^(?:known-state|own-transactions)\.ts$|^(?:mistakes|shape|kinds|turns|persist)\.ts$/;

/** A pattern that comments and titles of tests and of the bench must not contain. */
export interface UnclearEnglish {
  pattern: RegExp;
  /** The wording to use instead. */
  instead: string;
  /** A text that the pattern must find. */
  example: string;
  /** The files to search; all if absent. */
  within?: RegExp;
}

export const UNCLEAR_COMMENTS: readonly UnclearEnglish[] = [
  {
    pattern: /^(?:Of|What|Whoever|Those|Where|Not|Real:|Faked:|Stood in for:)(?!\S)/,
    instead: 'a sentence, such as "Returns the ...", "Uses the ..." or "The items of ..."',
    example: 'Of all pages together, since a compiler takes long to start.',
  },
  {
    pattern: /^Whether(?!\S)/,
    instead: 'a sentence, such as "Returns true if ..."',
    example: 'Whether it has ended.',
    within: /^(?:test|bench)\//,
  },
];

export const UNCLEAR_TEXTS: readonly UnclearEnglish[] = [
  {
    pattern: /\b(?:nobody|somebody|anybody|everybody|whoever|whomever)\b/i,
    instead: 'the role, such as the client, another process, no agent',
    example: 'is delivered where nobody listens',
  },
  { pattern: /\banew\b/i, instead: 'again', example: 'settles it anew' },
  {
    pattern: /(?<!\bthere )\b(?:is|are|was|were) no (?!longer\b)/i,
    instead: 'is not a ..., or has no ...',
    example: 'a body that is no object',
  },
  {
    pattern: /\b(?:is|are|was|were|been) told\b/i,
    instead: 'receives, is notified or is reported',
    example: 'the model is told',
  },
  { pattern: /\bgiven up\b/i, instead: 'aborted or abandoned', example: 'the call is given up' },
  { pattern: /\bgo(?:es)? on\b/i, instead: 'continue', example: 'and the others go on' },
  {
    pattern: /\b(?:of (?:its|their) own|at once)\b/i,
    instead: 'separate; immediately, together or in parallel',
    example: 'a group of its own',
  },
  {
    pattern: /\b(?:null|undefined|absent|empty|present|true|false|`\w+`|\w+Error) where\b/i,
    instead: 'if',
    example: 'null where it has not ended',
  },
];
