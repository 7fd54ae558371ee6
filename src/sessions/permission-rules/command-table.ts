/**
 * For programs whose options are known: the options, subcommands and operands that can't run anything, write anything that
 * the command doesn't name, or read outside of the folders that it names. An option that isn't listed isn't known,
 * including abbreviations, so new versions of a program can't make a rule match more.
 */

/** The known words of a program or one of its subcommands. */
export interface KnownWords {
  /** without a value; a single character is a letter, also among others: `-la` */
  flags: ReadonlySet<string>
  /** with a value, joined or as the next word */
  values: ReadonlySet<string>
  /** with a value that can only be joined: `--color=always`, `-uno` */
  joined: ReadonlySet<string>
  /** `-5` */
  numbers: boolean
  /** Long options have one dash: `find . -name x`. */
  oneDash: boolean
  /** The first word may be letters without a dash: `tar tf x.tar`. */
  bundle: boolean
  value: (value: string) => boolean
  operand: (operand: string) => boolean
  /** what the words must contain, with options expanded to `-l` or `--list` */
  requires?: RegExp
  /** what the words after `--` are, if they belong to another program */
  rest?: KnownWords
  /** It prints any option that it doesn't know. */
  anyOption: boolean
  /** It runs a script or the code of the project in its folder. */
  runsProject: boolean
  /** Parley suggests rules with `*` for it. */
  suggested: boolean
}

/** A program: one set of words, or one for each subcommand, such as `log` or `stash list`. */
export interface CommandTable {
  words?: KnownWords
  /** options before the subcommand */
  before: KnownWords
  subcommands: ReadonlyMap<string, KnownWords>
}

type More = Partial<Omit<KnownWords, 'flags' | 'values' | 'joined' | 'numbers'>>

const anything = () => true
const nothing = () => false

/**
 * Reads options: `-abc` letters, `-n:` a letter with a value, `-u[:]` with a value that can only be joined, `-#` numbers;
 * `--all`, `--format=` with a value, `--color[=]` alone or with a joined value.
 */
function known(options: string, more: More = {}): KnownWords {
  const flags = new Set<string>()
  const values = new Set<string>()
  const joined = new Set<string>()
  let numbers = false
  for (const option of options.split(/\s+/)) {
    const name = option.replace(/^--?/, '').replace(/(?:\[[=:]\]|[=:])$/, '')
    if (option === '-#') numbers = true
    else if (/\[[=:]\]$/.test(option)) {
      flags.add(name)
      joined.add(name)
    } else if (/[=:]$/.test(option)) values.add(name)
    else if (option.startsWith('--') || more.oneDash) flags.add(name)
    else for (const letter of name) flags.add(letter)
  }
  return {
    flags,
    values,
    joined,
    numbers,
    oneDash: false,
    bundle: false,
    value: anything,
    operand: anything,
    anyOption: false,
    runsProject: false,
    suggested: false,
    ...more,
  }
}

/** For programs that only read or print. */
function reads(options: string, more: More = {}): CommandTable {
  return { words: known(options, { suggested: true, ...more }), before: known(''), subcommands: new Map() }
}

/** For programs that do more, if they name it. */
function does(options: string, more: More = {}): CommandTable {
  return reads(options, { suggested: false, ...more })
}

function subcommands(before: string, table: Readonly<Record<string, KnownWords>>): CommandTable {
  const all = Object.entries(table).flatMap(([names, words]) =>
    names.split('|').map(name => [name, words] as const),
  )
  return { before: known(before, { operand: nothing }), subcommands: new Map(all) }
}

const GREP =
  '-abcEFGhHiIlLnoPqrsTvwxyzZU -e: -A: -B: -C: -m: -# --after-context= --before-context= --context[=] --basic-regexp --extended-regexp --fixed-strings --perl-regexp --color[=] --colour[=] --count --files-with-matches --files-without-match --ignore-case --no-ignore-case --include= --exclude= --exclude-dir= --invert-match --line-number --line-regexp --max-count= --no-filename --with-filename --no-messages --null --null-data --only-matching --quiet --silent --recursive --regexp= --text --word-regexp --byte-offset --initial-tab --binary-files= --line-buffered'
const RG =
  '-acFHiIlnNopPqsSuUvwx0. -e: -g: -m: -r: -A: -B: -C: -M: -t: -T: -d: -E: -j: --after-context= --before-context= --context= --case-sensitive --ignore-case --smart-case --color= --colors= --column --count --count-matches --files --files-with-matches --files-without-match --fixed-strings --glob= --iglob= --heading --no-heading --hidden --no-hidden --no-ignore --no-ignore-vcs --no-messages --invert-match --json --line-number --no-line-number --line-regexp --max-columns= --max-count= --max-depth= --max-filesize= --multiline --multiline-dotall --null --no-filename --with-filename --only-matching --pcre2 --passthru --pretty --quiet --regexp= --replace= --sort= --sortr= --stats --text --trim --type= --type-not= --type-list --unrestricted --vimgrep --word-regexp --one-file-system --no-config --no-follow'
const FIND =
  '-name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -type= -xtype= -maxdepth= -mindepth= -size= -mtime= -mmin= -ctime= -cmin= -atime= -amin= -newer= -perm= -user= -group= -uid= -gid= -links= -inum= -lname= -ilname= -printf= -print -print0 -ls -empty -prune -quit -depth -d -mount -xdev -nouser -nogroup -readable -writable -executable -not -and -or -a -o -true -false -P -daystart -ignore_readdir_race -noleaf'
const DIFF =
  '-psuzRabwMCBDW -U: -S: -G: --patch --no-patch --raw --stat[=] --numstat --shortstat --dirstat[=] --summary --patch-with-stat --name-only --name-status --color[=] --no-color --word-diff[=] --word-diff-regex= --color-words[=] --color-moved[=] --no-renames --find-renames[=] --find-copies[=] --find-copies-harder --minimal --patience --histogram --diff-algorithm= --ignore-space-change --ignore-all-space --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --function-context --unified= --diff-filter= --inter-hunk-context= --full-index --binary --abbrev[=] --pickaxe-all --pickaxe-regex --relative[=] --text --exit-code --quiet --no-ext-diff --no-textconv --src-prefix= --dst-prefix= --no-prefix --ignore-submodules[=] --compact-summary --check'
const LOG = `${DIFF} -# -n: -iEFPgcm -L: --oneline --graph --all --decorate[=] --no-decorate --format= --pretty[=] --date= --relative-date --since= --until= --after= --before= --author= --committer= --grep= --all-match --invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --max-count= --skip= --follow --first-parent --merges --no-merges --reverse --topo-order --date-order --author-date-order --branches[=] --tags[=] --remotes[=] --left-right --left-only --right-only --cherry-pick --cherry-mark --cherry --abbrev-commit --no-abbrev-commit --parents --children --simplify-by-decoration --full-history --notes --no-notes --boundary --count --no-walk`
/** A placeholder that verifies signatures runs a program. */
const noSignature = (value: string) => !value.includes('%G')
const readsGit = (options: string, more: More = {}) => known(options, { suggested: true, ...more })

const GIT = subcommands('-P --no-pager --no-optional-locks --no-replace-objects --literal-pathspecs', {
  '': known('--version'),
  status: readsGit(
    '-sbzv -u[:] --short --branch --porcelain[=] --long --verbose --untracked-files[=] --ignored[=] --show-stash --no-renames --find-renames --ahead-behind --no-ahead-behind --column --no-column --ignore-submodules[=]',
  ),
  diff: readsGit(`${DIFF} --cached --staged --merge-base -# --ours --theirs --base --cc -c`),
  'log|show|rev-list': readsGit(LOG, { value: noSignature }),
  blame: readsGit(
    '-L: -ltwefnpsbcMC --porcelain --line-porcelain --show-email --show-name --show-number --since= --date= --first-parent --abbrev= --root --incremental --color-lines --color-by-age',
  ),
  'ls-files': readsGit(
    '-cdmoisutvz -x: --cached --deleted --modified --others --ignored --stage --unmerged --exclude= --exclude-standard --full-name --error-unmatch --directory --no-empty-directory --eol --abbrev[=] --deduplicate',
  ),
  'ls-tree': readsGit(
    '-drtlz --long --name-only --name-status --full-name --full-tree --abbrev[=] --object-only',
  ),
  'rev-parse': readsGit(
    '-q --abbrev-ref[=] --short[=] --verify --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --all --branches[=] --tags[=] --remotes[=] --revs-only --no-revs',
  ),
  describe: readsGit(
    '--all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match= --exclude= --always --first-parent --dirty[=] --broken[=]',
  ),
  shortlog: readsGit(
    '-nsec --numbered --summary --email --committer --no-merges --merges --since= --until= --author= --all',
  ),
  'show-ref': readsGit('-qsd --heads --tags --head --hash[=] --abbrev[=] --verify --dereference --quiet'),
  'merge-base': readsGit('-a --all --octopus --is-ancestor --independent --fork-point'),
  grep: readsGit(
    '-nilLcwvhHopqrzaIEGPFW -e: -A: -B: -C: -m: -# --max-depth= --max-count= --cached --untracked --line-number --column --ignore-case --name-only --files-with-matches --files-without-match --count --word-regexp --invert-match --extended-regexp --basic-regexp --fixed-strings --perl-regexp --and --or --not --all-match --heading --break --show-function --function-context --only-matching --quiet --text --color[=] --no-color --after-context= --before-context= --context= --full-name',
  ),
  'cat-file': readsGit('-tpse'),
  'for-each-ref': known('--format= --sort= --count= --contains[=] --merged[=] --points-at=', {
    value: noSignature,
  }),
  'check-ignore': known('-vnq --verbose --non-matching --quiet --no-index'),
  'count-objects': known('-vH --verbose --human-readable'),
  'stash list': known(LOG, { value: noSignature }),
  'stash show': known(DIFF),
  remote: known('-v --verbose', { operand: nothing }),
  branch: known(
    '-arvl --list --all --remotes --verbose --show-current --merged[=] --no-merged[=] --contains[=] --no-contains[=] --sort= --format= --points-at= --column --no-column --color[=] --no-color',
    { value: noSignature },
  ),
  tag: known(
    '-aln -m: --annotate --message= --list --sort= --format= --contains[=] --merged[=] --no-merged[=] --points-at=',
    {
      value: noSignature,
    },
  ),
  config: known(
    '-lz --get --get-all --get-regexp --list --show-origin --show-scope --name-only --global --local --system --null --includes --no-includes',
    { requires: /^(?:-l|--(?:get|get-all|get-regexp|list))$/ },
  ),
  fetch: known(
    '-pqvt --all --prune --tags --no-tags --quiet --verbose --dry-run --depth= --unshallow --progress',
    { operand: word => /^\w[\w./-]*$/.test(word) },
  ),
  add: known('-Auvnf --all --no-all --update --verbose --dry-run --force --ignore-errors'),
  commit: known(
    '-aqvs -m: --all --message= --amend --no-edit --quiet --verbose --signoff --allow-empty --author= --date= --fixup= --squash= --short --dry-run',
  ),
})

/** Files and folders that a test script runs anyway. */
const TEST_FILE =
  /^(?:[\w@.-]+\/)*(?:[\w@.-]+[._-](?:test|spec)\.\w+|test_\w+\.py|[\w-]+_test\.go|(?:tests?|__tests__|specs?|e2e)(?:\/[\w-]+)*\/?)(?::\d+)*$/
/** Arguments of a test script, whatever runner it uses. */
const TEST_ARGUMENTS = known(
  '-bvi -g: -t: --grep= --testNamePattern= --test-name-pattern= --watch --no-watch --bail[=] --verbose --silent --quiet --coverage --no-coverage --ci --color --colors --no-color --runInBand --passWithNoTests --run --parallel --forbid-only --exit --fail-fast --failfast --no-cache --timeout= --testTimeout= --retries= --maxWorkers= --shard=',
  { operand: word => TEST_FILE.test(word) },
)
const NPM_OPTIONS = '-sq --silent --quiet --no-color --color= --loglevel= --if-present'
const NPM_TEST = known(`${NPM_OPTIONS} --watch`, {
  operand: word => TEST_FILE.test(word),
  rest: TEST_ARGUMENTS,
  runsProject: true,
  suggested: true,
})
/** Options after the script's name belong to the script. */
const PASSES_TEST = { ...TEST_ARGUMENTS, rest: TEST_ARGUMENTS, runsProject: true, suggested: true }
const PACKAGE = /^(?:@[\w.-]+\/)?[\w-][\w.-]*(?:@[\w.^~<>=|*-]+)?(?:\[\d*\])?$/
const NPM_LISTS = {
  'ls|outdated': known(
    `${NPM_OPTIONS} -al --all --json --long --parseable --depth= --omit= --production --prod`,
    {
      operand: word => PACKAGE.test(word),
      suggested: true,
    },
  ),
  view: known(`${NPM_OPTIONS} --json`, { operand: word => PACKAGE.test(word), suggested: true }),
}

const CARGO_OPTIONS =
  '-qvr -p: -j: -F: --release --workspace --all --lib --bins --bin= --test= --tests --example= --examples --bench= --benches --all-targets --package= --exclude= --features= --all-features --no-default-features --locked --offline --frozen --quiet --verbose --color= --message-format= --keep-going --jobs= --profile='
const LIBTEST = known(
  '-q --nocapture --no-capture --test-threads= --ignored --include-ignored --exact --list --skip= --show-output --color= --quiet',
)
const plain = (word: string) => /^[\w:.@-]+$/.test(word)
const builds = (options: string, more: More = {}) =>
  known(options, { operand: nothing, value: plain, runsProject: true, suggested: true, ...more })
const GO_OPTIONS =
  '-v -x -race -cover -json -n -p= -count= -timeout= -run= -skip= -bench= -benchmem -short -failfast -parallel= -shuffle= -cpu='
const goes = (options: string, more: More = {}) =>
  known(options, { oneDash: true, suggested: true, runsProject: true, ...more })

const GH_OPTIONS =
  '-L: -s: -R: -q: -a: -A: -l: -S: -b: -w: -c --limit= --state= --json= --jq= --author= --assignee= --label= --repo= --search= --branch= --workflow= --comments --log --log-failed --name-only --required'

const TABLE: ReadonlyMap<string, CommandTable> = new Map(
  Object.entries({
    ls: reads(
      '-aAbBcCdfFgGhiklmnNopqQrRsStuUvxXZ1 -I: -w: --all --almost-all --author --color[=] --full-time --group-directories-first --human-readable --inode --no-group --numeric-uid-gid --recursive --reverse --size --sort= --time= --time-style= --si --file-type --classify[=] --format= --ignore= --hide= --directory --width=',
    ),
    cat: reads(
      '-AbeEnstTuv --number --number-nonblank --show-all --show-ends --show-tabs --squeeze-blank --show-nonprinting',
    ),
    head: reads('-qvz -n: -c: -# --lines= --bytes= --quiet --silent --verbose --zero-terminated'),
    tail: reads('-qvzr -n: -c: -# --lines= --bytes= --quiet --silent --verbose --zero-terminated'),
    wc: reads('-cmlLw --bytes --chars --lines --max-line-length --words'),
    cut: reads(
      '-nsz -b: -c: -d: -f: --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter= --zero-terminated',
    ),
    sort: reads(
      '-bdfghiMnrRsuVzcC -k: -t: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --key= --field-separator= --unique --stable --check[=] --zero-terminated --sort=',
    ),
    pwd: reads('-LP', { operand: nothing }),
    echo: reads('', { anyOption: true }),
    basename: reads('-az -s: --multiple --suffix= --zero'),
    dirname: reads('-z --zero'),
    realpath: reads(
      '-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --strip --no-symlinks --zero --relative-to= --relative-base=',
    ),
    which: reads('-as --all'),
    stat: reads('-ftxlnrsq -c: --format= --printf= --terse --file-system'),
    du: reads(
      '-abchkmsSxl0 -d: -B: -t: --all --apparent-size --block-size= --bytes --total --human-readable --max-depth= --summarize --one-file-system --si --time[=] --exclude= --threshold= --separate-dirs --null --inodes',
    ),
    diff: reads(
      '-abBcdeEinNpqrstTuwy -U: -C: -W: -I: -F: -# --brief --unified[=] --context[=] --color[=] --side-by-side --ignore-all-space --ignore-space-change --ignore-trailing-space --ignore-blank-lines --ignore-case --ignore-tab-expansion --strip-trailing-cr --suppress-common-lines --width= --report-identical-files --text --minimal --new-file --recursive --no-dereference --show-c-function --expand-tabs --initial-tab --normal --label= --speed-large-files',
    ),
    cmp: reads('-bls -n: -i: --print-bytes --verbose --quiet --silent --bytes= --ignore-initial='),
    jq: reads(
      '-crjasSCMneR --compact-output --raw-output --raw-output0 --join-output --ascii-output --slurp --sort-keys --color-output --monochrome-output --null-input --exit-status --raw-input --tab --indent= --arg= --argjson= --seq --stream',
      // modules are read from anywhere
      {
        operand: word =>
          !/\b(?:import|include|env|ENV|modulemeta|input_filename|get_search_list)\b/.test(word),
      },
    ),
    grep: reads(GREP),
    egrep: reads(GREP),
    fgrep: reads(GREP),
    rg: reads(RG),
    find: reads(FIND, { oneDash: true }),
    gfind: reads(FIND, { oneDash: true }),
    // extracting writes files that the command doesn't name; `host:file` is on another machine
    ...Object.fromEntries(
      ['tar', 'gtar', 'bsdtar'].map(name => [
        name,
        does('-ctvzjJ -f: --create --list --verbose --gzip --bzip2 --xz --zstd --file= --exclude=', {
          bundle: true,
          value: value => !value.includes(':'),
          operand: word => !/^@|:/.test(word),
        }),
      ]),
    ),
    unzip: does('-ltvqZ1', { requires: /^-[ltvZ]$/ }),
    cp: does('-finpvu --force --interactive --no-clobber --verbose --update'),
    curl: does(
      '-sSfiIvL046 -m: -H: -A: --silent --show-error --fail --fail-with-body --include --head --verbose --location --max-time= --connect-timeout= --compressed --retry= --http1.1 --http2 --header= --user-agent=',
      { value: value => !value.startsWith('@'), operand: word => /^https?:\/\/[^{}[\]]+$/i.test(word) },
    ),
    git: GIT,
    npm: subcommands(NPM_OPTIONS, { test: NPM_TEST, ...NPM_LISTS, '': known('--version -v') }),
    pnpm: subcommands('-s --silent', { test: PASSES_TEST, ...NPM_LISTS, '': known('--version -v') }),
    yarn: subcommands('-s --silent', { test: PASSES_TEST, '': known('--version -v') }),
    cargo: subcommands('-qv --quiet --verbose --locked --offline --frozen', {
      test: builds(`${CARGO_OPTIONS} --no-run --no-fail-fast --doc`, { operand: plain, rest: LIBTEST }),
      'build|check|clippy': builds(CARGO_OPTIONS),
      fmt: builds('-qv -p: --all --check --package= --quiet --verbose', { rest: known('--check') }),
      tree: builds(
        '-dqv -e: -i: -p: -F: --depth= --prefix= --no-dedupe --duplicates --invert= --edges= --features= --all-features --workspace --locked --offline --charset=',
      ),
      '': known('--version -V'),
    }),
    go: subcommands('', {
      test: goes(GO_OPTIONS),
      'build|vet': goes('-v -x -race -n -p='),
      list: goes('-json -m -deps -test -u -e'),
      fmt: goes('-n -x'),
      doc: goes('-all -src -short -u -c'),
      version: known('', { operand: nothing }),
    }),
    gh: subcommands(
      '',
      Object.fromEntries(
        [
          'pr list|pr view|pr diff|pr checks|pr status|issue list|issue view|issue status',
          'run list|run view|repo view|release list|release view|workflow list|workflow view',
        ].map(names => [names, known(GH_OPTIONS)]),
      ),
    ),
  }),
)

/** The table of a program, by its name without a folder or file type. */
export function tableOf(program: string): CommandTable | undefined {
  return TABLE.get(program)
}

/** How the options after the name of a script are read: as the program's own until `--`, or all as the script's. */
const RUNS_SCRIPTS: ReadonlyMap<string, { before: KnownWords; own: boolean }> = new Map([
  ['npm', { before: known(NPM_OPTIONS), own: true }],
  ['pnpm', { before: known('-s --silent --if-present'), own: false }],
  ['yarn', { before: known('-s --silent'), own: false }],
  ['bun', { before: known('--silent'), own: false }],
])

const ANY_ARGUMENTS = known('', { anyOption: true })

interface ScriptWords {
  words: KnownWords
  /** Without it, the words aren't known to be harmless. */
  sure: boolean
}

/** What may follow `npm run <script>`. Of a script that isn't for tests, the arguments aren't known. */
export function scriptWords(program: string, script: string): ScriptWords | undefined {
  const runner = RUNS_SCRIPTS.get(program)
  if (!runner) return undefined
  const sure = /^test(?:s?$|[:._-])/.test(script)
  const rest = sure ? TEST_ARGUMENTS : ANY_ARGUMENTS
  const own = runner.own ? { ...runner.before, operand: rest.operand } : rest
  return { words: { ...own, rest, runsProject: true, suggested: sure }, sure }
}
