/**
 * The programs that rules with `*` are for: programs that only read, with the options, subcommands and operands that can't run anything,
 * write anything, or read outside of the folders that the command names. Rules with `*` don't allow words that aren't listed, including
 * abbreviations of options, so that a new version of a program can't make a rule allow more.
 */

/** The known words of a program or one of its subcommands. */
export interface KnownWords {
  /** options without a value; a single character is a letter option, which can be combined with others: `-la` */
  flags: ReadonlySet<string>
  /** options with a value, joined or as the next word */
  values: ReadonlySet<string>
  /** options whose value can only be joined: `--color=always`, `-uno` */
  joined: ReadonlySet<string>
  /** Whether a number can be an option: `-5`. */
  numbers: boolean
  /** Whether long options have one dash: `find . -name x`. */
  oneDash: boolean
  value: (value: string, option: string) => boolean
  /** Whether the operand is harmless. `index`: its position among the operands. */
  operand: (operand: string, index: number) => boolean
  /** one of the options that the words must contain, expanded to `-l` or `--list`; if there is no operand, the option may be missing */
  requires?: { options: RegExp; always: boolean }
  /** Whether any option is harmless because the program, like `echo`, prints unknown options. */
  anyOption: boolean
  /** Whether `--` ends the options: not for `find`, which reads an expression then, or `git stash list`, which passes on the rest. */
  ends: boolean
  /** Whether the program changes files. Then only rules without a command allow it. */
  acts: boolean
}

/** The known words of a program, or of each subcommand, such as `log` or `stash list`. */
export interface CommandTable {
  words?: KnownWords
  /** options before the subcommand */
  before: KnownWords
  subcommands: ReadonlyMap<string, KnownWords>
}

type More = Partial<Omit<KnownWords, 'flags' | 'values' | 'joined' | 'numbers'>>

export const anything = () => true
const nothing = () => false

/**
 * Parses a list of options: `-abc` letters, `-n:` a letter with a value, `-u[:]` a letter whose value can only be joined, `-#` numbers,
 * `--all` without a value, `--format=` with a value, `--color[=]` without a value or with a joined one.
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
    value: anything,
    operand: anything,
    anyOption: false,
    ends: true,
    acts: false,
    ...more,
  }
}

/** Returns the table of a program without subcommands. */
function reads(options: string, more: More = {}): CommandTable {
  return { words: known(options, more), before: known(''), subcommands: new Map() }
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
/** Placeholders of `git log --format`. Others, such as `%G?`, run a program. */
const PLACEHOLDER =
  /%(?:[-+ ]?(?:[HhTtPpsfbBdDSemnN]|[ac][nNeElLdDrtiIsh]|g[dDsnNeE])|%|x[0-9a-f]{2}|C(?:red|green|blue|reset|\([a-z\d ,#]*\))|[<>]+\|?\([\d,a-z]*\))/g
const FORMAT_NAMES = /^(?:oneline|short|medium|full|fuller|reference|email|mboxrd|raw|)$/
/** Fields that `git branch --format` and `--sort` may name: no signatures, since Git runs a program to verify signatures. */
const FIELD =
  '(?:HEAD|refname|symref|objectname|objecttype|objectsize|tree|parent|numparent|subject|body|contents|upstream|push|(?:author|committer|tagger|creator)(?:name|email|date)?)(?::(?:short(?:=\\d+)?|[lr]?strip=-?\\d+|relative|iso8601|iso|iso-strict|unix|track|trackshort|nobracket|subject|body|lines=\\d+))?'
const REF_FIELD = new RegExp(`%\\(${FIELD}\\)|%%|%[0-9a-f]{2}`, 'g')
const SORT_KEY = new RegExp(`^-?(?:(?:version|v):)?${FIELD}$`)

function isLogValue(value: string, option: string): boolean {
  if (option !== 'format' && option !== 'pretty') return true
  if (FORMAT_NAMES.test(value)) return true
  return /%|^t?format:/.test(value) && !value.replace(PLACEHOLDER, '').includes('%')
}

function isRefValue(value: string, option: string): boolean {
  if (option === 'sort') return SORT_KEY.test(value)
  return option !== 'format' || !value.replace(REF_FIELD, '').includes('%')
}

/** sed scripts that only print or delete lines, or replace plain text with plain text. */
const PLAIN_SED =
  /^(?:[\d$,~+! ]*[pdq=]|[\d$,]*s([/|#,])(?:(?!\1)[^\\\n;{}]|\\[^\n])*\1(?:(?!\1)[^\\\n;{}]|\\[^\n])*\1[gpIi\d]*)$/
/** awk programs that only print fields. */
const PLAIN_AWK = /^(?:NR *[=<>]=? *\d+ *)?\{ *print(?: *(?:\$(?:NF|\d+)|NF|NR|"[^"\\\n]*"|,))* *\}$/

/** Requires an option that lists if there is a name: without such an option, Git creates a branch or tag of that name. */
const lists = (options: string) => ({
  value: isRefValue,
  requires: {
    options: new RegExp(`^(?:${options}--(?:list|contains|no-contains|merged|no-merged|points-at))$`),
    always: false,
  },
})

const GIT = subcommands('-P --no-pager --no-optional-locks --no-replace-objects --literal-pathspecs', {
  '': known('--version'),
  status: known(
    '-sbzv -u[:] --short --branch --porcelain[=] --long --verbose --untracked-files[=] --ignored[=] --show-stash --no-renames --find-renames --ahead-behind --no-ahead-behind --column --no-column --ignore-submodules[=]',
  ),
  diff: known(`${DIFF} --cached --staged --merge-base -# --ours --theirs --base --cc -c`),
  'log|show|rev-list': known(LOG, { value: isLogValue }),
  blame: known(
    '-L: -ltwefnpsbcMC --porcelain --line-porcelain --show-email --show-name --show-number --since= --date= --first-parent --abbrev= --root --incremental --color-lines --color-by-age',
  ),
  'ls-files': known(
    '-cdmoisutvz -x: --cached --deleted --modified --others --ignored --stage --unmerged --exclude= --exclude-standard --full-name --error-unmatch --directory --no-empty-directory --eol --abbrev[=] --deduplicate',
  ),
  'ls-tree': known(
    '-drtlz --long --name-only --name-status --full-name --full-tree --abbrev[=] --object-only',
  ),
  'rev-parse': known(
    '-q --abbrev-ref[=] --short[=] --verify --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --git-common-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --all --branches[=] --tags[=] --remotes[=] --revs-only --no-revs',
  ),
  describe: known(
    '--all --tags --contains --abbrev= --candidates= --exact-match --debug --long --match= --exclude= --always --first-parent --dirty[=] --broken[=]',
  ),
  shortlog: known(
    '-nsec --numbered --summary --email --committer --no-merges --merges --since= --until= --author= --all',
  ),
  'show-ref': known('-qsd --heads --tags --head --hash[=] --abbrev[=] --verify --dereference --quiet'),
  'merge-base': known('-a --all --octopus --is-ancestor --independent --fork-point'),
  grep: known(
    '-nilLcwvhHopqrzaIEGPFW -e: -A: -B: -C: -m: -# --max-depth= --max-count= --cached --untracked --line-number --column --ignore-case --name-only --files-with-matches --files-without-match --count --word-regexp --invert-match --extended-regexp --basic-regexp --fixed-strings --perl-regexp --and --or --not --all-match --heading --break --show-function --function-context --only-matching --quiet --text --color[=] --no-color --after-context= --before-context= --context= --full-name',
  ),
  'cat-file': known('-tpse'),
  'for-each-ref': known('--format= --sort= --count= --contains[=] --merged[=] --points-at=', {
    value: isRefValue,
  }),
  'check-ignore': known('-vnq --verbose --non-matching --quiet --no-index'),
  'count-objects': known('-vH --verbose --human-readable'),
  'stash list': known(LOG, { value: isLogValue, ends: false }),
  'stash show': known(DIFF, { ends: false }),
  remote: known('-v --verbose', { operand: nothing }),
  branch: known(
    '-arv --list --all --remotes --verbose --show-current --merged[=] --no-merged[=] --contains[=] --no-contains[=] --sort= --format= --points-at= --column --no-column --color[=] --no-color',
    lists(''),
  ),
  tag: known(
    '-ln --list --sort= --format= --contains[=] --merged[=] --no-merged[=] --points-at=',
    lists('-l|'),
  ),
  config: known(
    '-lz --get --get-all --get-regexp --list --show-origin --show-scope --name-only --global --local --system --null --includes --no-includes',
    { requires: { options: /^(?:-l|--(?:get|get-all|get-regexp|list))$/, always: true } },
  ),
  fetch: known(
    '-pqvt --all --prune --tags --no-tags --quiet --verbose --dry-run --depth= --unshallow --progress',
    { operand: word => /^\w[\w./-]*$/.test(word), acts: true },
  ),
  add: known('-Auvnf --all --no-all --update --verbose --dry-run --force --ignore-errors', { acts: true }),
  commit: known(
    '-aqvs -m: --all --message= --amend --no-edit --quiet --verbose --signoff --allow-empty --author= --date= --fixup= --squash= --short --dry-run',
    { acts: true },
  ),
})

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
    // `pathsOfCommands` checks the target folder
    cd: reads('-LP'),
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
      // `import` and `include` read modules from anywhere
      {
        operand: word =>
          !/\b(?:import|include|env|ENV|modulemeta|input_filename|get_search_list)\b/.test(word),
      },
    ),
    grep: reads(GREP),
    egrep: reads(GREP),
    fgrep: reads(GREP),
    rg: reads(RG),
    find: reads(FIND, { oneDash: true, ends: false }),
    gfind: reads(FIND, { oneDash: true, ends: false }),
    sed: reads('-nErsuz --quiet --silent --regexp-extended', {
      operand: (word, index) => index > 0 || PLAIN_SED.test(word),
    }),
    awk: reads('-F:', { operand: (word, index) => index > 0 || PLAIN_AWK.test(word) }),
    git: GIT,
    cp: reads('-finpvu --force --interactive --no-clobber --verbose --update', { acts: true }),
    // extracting writes files that the command doesn't name; `host:file` is on another machine
    tar: reads('-ctvzjJ -f: --create --list --verbose --gzip --bzip2 --xz --zstd --file= --exclude=', {
      value: value => !value.includes(':'),
      operand: word => !/^@|:/.test(word),
      acts: true,
    }),
    curl: reads(
      '-sSfiIvL046 -m: -H: -A: --silent --show-error --fail --fail-with-body --include --head --verbose --location --max-time= --connect-timeout= --compressed --retry= --http1.1 --http2 --header= --user-agent=',
      {
        value: value => !value.startsWith('@'),
        operand: word => /^https?:\/\/[^{}[\]]+$/i.test(word),
        acts: true,
      },
    ),
  }),
)

/** Returns the table of a program on the PATH. A program that is named with a folder or another file extension isn't known. */
export function tableOf(program: string): CommandTable | undefined {
  return TABLE.get(program.replace(/\.exe$/, ''))
}
