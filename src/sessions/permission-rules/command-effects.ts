/** Effects of commands that their words don't show, for rules that name no command, and for rules that ask or reject. */
import { tableOf } from './command-table.ts'
import { refusedWord } from './known-words.ts'

/** Programs that run the command in their arguments. That command is also matched against rules that ask or reject. */
export const RUNNERS: ReadonlySet<string> = new Set(
  'sudo doas su env xargs parallel watch entr script strace ltrace perf valgrind chroot unshare nsenter setpriv gosu su-exec runuser pkexec sg fakeroot fakechroot taskset numactl chrt prlimit ionice stdbuf setarch linux32 linux64 unbuffer xvfb-run dbus-run-session dbus-launch firejail bwrap proxychains proxychains4 torsocks tsocks eatmydata faketime hyperfine concurrently cross-env cross-env-shell dotenv nodemon onchange corepack volta rustup rbenv pyenv nodenv doppler aws-vault cgexec winpty flock systemd-run systemd-inhibit systemd-cat run0 chronic caffeinate arch ssh-agent rlwrap tmux screen start-stop-daemon cpulimit choom logsave env-cmd dotenvx noglob nocorrect repeat - ssh mosh wsl call forfiles iex icm saps invoke-expression invoke-command start-process start-job exec eval source . trap alias start rundll32 at batch crontab busybox toybox nix nix-shell nix-env direnv mise asdf rtx conda mamba pipx tox nox hatch rye pdm find command builtin nohup nice time timeout gtimeout setsid npx bunx pnpx uvx'.split(
    ' ',
  ),
)

/** Programs that run code, connect elsewhere, or write files which the command doesn't name. */
const OPAQUE = new Set(
  'cmd powershell pwsh osascript expect tclsh wish vi vim nvim view ex ed emacs emacsclient nano pico micro less more most man info psql mysql mariadb sqlite3 mongo mongosh redis-cli gdb lldb dlv pdb mkfifo nc ncat netcat socat telnet dd mkfs kill killall helm terraform tofu pulumi ansible ansible-playbook vagrant install patch zip unzip 7z 7za 7zz unrar unar cpio pax ar gtar bsdtar rsync scp sftp rclone wget aria2c ditto robocopy xcopy svn hg split r irb runghc msbuild original-awk gxargs genv gsplit gdd ginstall wscript cscript mshta regsvr32 msiexec schtasks set-alias export readonly declare typeset local read getopts mapfile readarray unset shopt setopt let enable hash compgen complete bind apt apt-get brew dnf yum pacman snap choco winget systemctl service reboot shutdown poweroff halt useradd passwd mount umount pkill skill fuser mail sendmail dropdb createdb mysqladmin aws gcloud az heroku'.split(
    ' ',
  ),
)
/** Programs that run the script in their first argument, or code in an option or on their standard input. */
const INTERPRETER =
  /^(?:(?:a|ba|da|k|mk|z|fi|c|tc)?sh|(?:node|nodejs|python|pypy|py|ruby|perl|php|lua)[\d.]*|ts-node|tsx|luajit|rscript|julia|elixir|scala|groovy|guile|racket|clojure|java)$/

/** Subcommands of package managers and build tools that work on the project, and options of one letter. */
const TASKS: ReadonlyMap<string, { verbs: RegExp; letters: RegExp }> = new Map(
  (
    [
      [
        'npm pnpm yarn bun',
        /^(?:test |(?:run|run-script) \w|(?:ls|outdated) |view (?:(?:@[\w.-]+\/)?\w[\w.@^~-]*)?$)/,
        /^-[alqsv]+$/,
      ],
      ['cargo', /^(?:test|build|check|clippy|fmt|tree) /, /^-(?:[deijpqrvF]+|j\d+)$/],
      ['go', /^(?:test|build|vet|list|fmt|doc|version) /, /^-(?![oq](?:=|$))[a-z]+(?:=.*)?$/],
      ['make gmake', /./, /^-(?:[ijknpqrstvBCR]+|j\d+)$/],
      ['rake', /./, /^-(?:[jmnqstvB]+|j\d+)$/],
      ['pytest py.test', /./, /^-(?:[klmnqsvxW]+|r\w+)$/],
      ['mocha jest vitest ava tap c8 nyc', /./, /^-[bgituvw]+$/],
      ['rspec rubocop', /./, /^-[abfvA]+$/],
      ['gcc cc c++ g++ clang clang++ rustc ghc', /./, /^-(?:[cgovw]|O\w?|W[\w=-]+|std=[\w+]+|[Il].*)$/],
      ['cmake ctest', /./, /^-[GSBVNRj]\d*$/],
      ['chmod chown chgrp', /./, /^-[cfvR]+$/],
      ['fd fdfind', /./, /^-(?:[adegipstuEHI0]+|t[dflxes])$/],
      ['tree ag ack', /./, /^-[adgipstuEHI0]+$/],
      ['mvn mvnw gradle gradlew', /^\w/, /^-[aeiqBTUX]+$/],
      ['dotnet deno bazel buck', /^(?:build|test|check|fmt|lint) /, /^-[qv]$/],
      ['docker podman nerdctl', /^(?:ps|images|info|version|logs) /, /^-[afnqst]+$/],
      ['kubectl oc', /^(?:get|describe|logs|version) /, /^-[Afnow]+$/],
      ['pip pip3 uv poetry pipenv bundle', /^(?:list|show|freeze|check|outdated) /, /^-[qv]+$/],
      [
        'gh glab',
        /^(?:pr|issue|run|repo|release|workflow) (?:list|view|diff|checks|status)$/,
        /^-[LsRqaAlSbc]$/,
      ],
    ] as const
  ).flatMap(([names, verbs, letters]) => names.split(' ').map(name => [name, { verbs, letters }] as const)),
)
const RUNS_TESTS = /^(?:test |run test(?:s?$|[:._-]))/
const RUNS_PROJECT = /^(?:npm|pnpm|yarn|bun|cargo|go)$/
const PROJECT_TASK = /^(?:test|tests|run|run-script|build|check|clippy|fmt|tree|vet|list|doc)$/

/** Subcommands of many programs that send data elsewhere, change what is installed, or run code. */
const LEAVES = /^(?:(?:un)?(?:install|publish)|deploy|upload|push|log(?:in|out)|eval)(?:$|:)/
const NAMES_FILES = /^(?:rm|rmdir|mkdir|mv|touch|ln|chmod|chown|chgrp|tee|tree|fd|fdfind|ag|ack)$/
/** Shells evaluate a subscript although it's quoted: `test -v 'a[${ x;}]'`. */
const EVALUATES = /^(?:printf|test|\[)$/

/** Letters of options that often run or load their value. */
const CODE_LETTERS = /^-\w*[cexO]|^-J/
const SCRIPT_LETTERS = /^-\w*[cerxO]/
/** Option letters that take code in Node and Python programs that run as a script. */
const INTERPRETED_LETTERS = /^-\w*[ceprxO]/
/** Long options that often run or load something, in the shortened forms that many programs accept. */
const SHORTENED =
  /^--(?:exe|eva|comm?|hoo|req|imp|loa|con|plu|scr(?:ip?)?|pag|edi|remo?|too|tea|setu|sett\w*|mak(?:efi?)?|info-\w*|pyth?|extern?|run_\w*|registr\w*|node-\w*|use-co\w*|kub\w*|wrap?|proc\w*)(?:=|$)/i
/** Parts of the names of options that often run, load or replace something. */
const CODE_OPTION =
  /^--?(?:[^=]*(?:exec|eval|comma|cmd|she|prog(?!ress)|hook|requ|impo|load|conf|plug|script|pager|editor|rsh|remote|init|tool|env|node-opt|global|setup|teardown|runn|transfo|report|resolv|pars|rules|dir|libd|include-d|cwd|pref|manifest|target|workspace|python|compil|overlay|mod|flags|settings|wrapp|user|textconv|ext-diff|expand|post-|(?<!pro)fi(?:l|=|$)|web|browser|viewer|-opt(?:ion)?|acti|xcla|codeg|spe|build-and|override|rootd|-path|print|call|git|pack|gyp|rc|pdb|propert|logger|under|url|links|host|fuse|foll)|-?(?:e[vx]|pre|xx)(?:=|$)|(?<=^--)run(?:=|$)|-\w(?:=|$))/i

/**
 * Returns the position of the word because of which a rule without a command refuses a command: the program, an argument not in the
 * program's table, or, without a table, an argument that looks as if it may run, load or replace something.
 */
export function unclearWord(
  words: readonly string[],
  platform: NodeJS.Platform,
  globs: readonly boolean[] = [],
): number | undefined {
  const [program = '', ...rest] = words
  const name = programOf(program).replace(/^(?:[gmn](?=awk$)|g(?=sed$))/, '')
  if (tableOf(name)) {
    // tar also reads letters without a dash as options
    if (name === 'tar' && !rest[0]?.startsWith('-')) return 0
    // with `-i`, sed changes only the named files, so the option isn't checked; on a Mac, it takes the next word, so it's checked
    const isShown = (word: string) => name !== 'sed' || word !== '-i' || platform === 'darwin'
    const shown = [...words.keys()].filter(at => at === 0 || isShown(words[at] ?? ''))
    const texts = shown.map(at => (at === 0 ? name : (words[at] ?? '')))
    const refused = refusedWord(
      texts,
      texts.map(() => true),
      true,
      shown.map(at => globs[at] === true),
    )
    return refused === undefined ? undefined : (shown[refused] ?? 0)
  }
  if (OPAQUE.has(name) || RUNNERS.has(name)) return 0
  if (words.length === 2 && /^(?:--version|-V|--help)$/.test(rest[0] ?? '')) return undefined
  const isInterpreter = INTERPRETER.test(name)
  if (isInterpreter && !/^[\w./@]/.test(rest[0] ?? '')) return 0
  if (name === 'set') return rest.every(word => /^(?:-[efuvxo]+|pipefail)$/.test(word)) ? undefined : 0
  if (EVALUATES.test(name) && (rest[0]?.startsWith('-v') || rest.some(word => /[$`]/.test(word)))) return 0
  if (/^g?make$/.test(name) && rest.some(word => word.includes('='))) return 0
  if (/^(?:deno|bun)$/.test(name) && rest.some(word => /^(?:https?|npm|jsr|data):/i.test(word))) return 0
  const operands = rest.filter(word => !word.startsWith('-')).slice(0, 2)
  if (!NAMES_FILES.test(name) && operands.some(word => LEAVES.test(word))) return 0
  const tasks = TASKS.get(name)
  const first = rest.findIndex(word => !/^(?:-[qs]|--(?:quiet|silent))$/.test(word))
  if (tasks && !tasks.verbs.test(`${rest[first] ?? ''} ${rest[first + 1] ?? ''}`)) return 0
  const dashes = rest.indexOf('--')
  const found = rest.findIndex((word, at) => {
    if (/`|\$\(|^[A-Z_][A-Z\d_]*=|^exec(?::|$)/.test(word)) return true
    if (!/^-./.test(word) || word === '--') return false
    if (CODE_OPTION.test(word) || SHORTENED.test(word)) return true
    if (word.startsWith('--')) return false
    // options after the name of a script belong to the script
    if (isInterpreter) return INTERPRETED_LETTERS.test(word)
    // options after `--` belong to the project's script
    if (tasks && dashes >= 0 && at > dashes) return SCRIPT_LETTERS.test(word)
    return tasks ? !tasks.letters.test(word) : CODE_LETTERS.test(word)
  })
  return found < 0 ? undefined : found + 1
}

/** Whether the command runs code of the project in its folder. */
export function runsProject(words: readonly string[]): boolean {
  return RUNS_PROJECT.test(programOf(words[0] ?? '')) && words.some(word => PROJECT_TASK.test(word))
}

/** Returns the number of words that identify a task of the project, if a rule with `**` may be offered for the task. */
export function taskStart(words: readonly string[], platform: NodeJS.Platform): number | undefined {
  const [program = '', verb = '', script = ''] = words
  const isBuild = program === 'cargo' || program === 'go'
  const text = `${verb} ${script}`
  if (
    !(isBuild ? TASKS.get(program)?.verbs : /^(?:p?npm|yarn)$/.test(program) ? RUNS_TESTS : undefined)?.test(
      text,
    )
  )
    return undefined
  if (unclearWord(words, platform) !== undefined) return undefined
  return verb === 'run' ? 3 : 2
}

/** Returns the name of a program in lower case, without folder and file extension: `/usr/bin/Git.exe` becomes `git`. */
export function programOf(word: string): string {
  const base = /[^\\/]*$/.exec(word)?.[0] ?? word
  return base.toLowerCase().replace(/\.(?:exe|cmd|bat|com|ps1)$/, '')
}
