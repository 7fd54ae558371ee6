/**
 * Commands that run what their arguments name: `env`, `node -e`, `docker run`. A rule that leaves such an argument open
 * (`node *`) doesn't match such commands. It's a second line of defense for programs without a table of known options.
 */

/** Programs that run the command in their arguments. What they run is searched for rules that ask or reject. */
export const RUNNERS: ReadonlySet<string> = new Set(
  'sudo doas su env xargs parallel watch entr script strace ltrace perf valgrind chroot unshare nsenter setpriv gosu su-exec runuser pkexec sg fakeroot fakechroot taskset numactl chrt prlimit ionice stdbuf setarch linux32 linux64 unbuffer xvfb-run dbus-run-session dbus-launch firejail bwrap proxychains proxychains4 torsocks tsocks eatmydata faketime hyperfine concurrently cross-env cross-env-shell dotenv nodemon onchange corepack volta rustup rbenv pyenv nodenv doppler aws-vault cgexec winpty flock systemd-run systemd-inhibit systemd-cat run0 chronic caffeinate arch ssh-agent rlwrap tmux screen start-stop-daemon cpulimit choom logsave env-cmd dotenvx noglob nocorrect repeat -'.split(
    ' ',
  ),
)

/**
 * By program: the arguments that run or load what they name. `--name` is a long option, also abbreviated and with one
 * dash; `-x` is a letter, also among others (`-vx`) and joined to its value; a bare word is a subcommand after which
 * nothing may be open. `!`: every argument may be code.
 */
const PROGRAMS = table([
  ['sh ash bash dash ksh mksh zsh fish csh tcsh', '-c -s -C --rcfile --init-file --init-command --command'],
  ['cmd powershell pwsh wsl osascript expect tclsh wish', '!'],
  ['vi vim nvim view ex ed emacs emacsclient nano pico micro less more most man info', '!'],
  ['psql mysql mariadb sqlite3 mongo mongosh redis-cli gdb lldb dlv pdb', '!'],
  [[...RUNNERS].join(' '), '!'],
  ['ssh mosh exec eval source . trap alias start rundll32 at batch crontab', '!'],
  ['busybox toybox nix nix-shell nix-env direnv mise asdf rtx conda mamba pipx tox nox hatch rye pdm', '!'],
  ['mkfifo nc ncat netcat socat telnet dd mkfs kill killall', '!'],
  [
    'node nodejs',
    '-e -p -r --eval --print --require --import --loader --experimental-loader --env-file --run --test-reporter --experimental-config-file --openssl-config --snapshot-blob',
  ],
  ['deno', '--eval --preload --import eval repl run x install task serve jupyter compile'],
  ['bun', '-e -p -r --eval --print --preload --require --import --shell --config x exec create add install'],
  ['ruby irb rspec rubocop', '-e -r -I -S -x -C -O --require --options'],
  ['rake', '-e -E -p -r -f -I --execute --execute-print --execute-continue --require --rakefile --libdir'],
  ['perl', '-e -E -M -m -d -x -I'],
  ['php', '-r -R -B -E -F -d -z --run --process-code --process-begin --process-end --define'],
  ['lua luajit', '-e -l -i'],
  ['rscript r julia elixir scala groovy ghc runghc guile racket clojure', '-e -E -L -x --eval --exec --load'],
  ['java', '-javaagent -agentlib -agentpath -xx --xx'],
  [
    'npm',
    '-c --call --script-shell --shell --node-options --git --editor --viewer --browser --init-module --userconfig --globalconfig --prefix --local-prefix --package --node-gyp --python --npm-path --config exec x explore create init edit config set pkg link',
  ],
  [
    'pnpm yarn',
    '-c --call --script-shell --shell --node-options --config --userconfig --prefix --dir --cwd --use-yarnrc --git --node-gyp exec x dlx create init config set link env node patch-commit',
  ],
  ['fd fdfind', '-x -X -L --exec --exec-batch --follow'],
  ['tree ag ack', '-l -f --follow'],
  ['chmod chown chgrp', '-L -H'],
  ['split', '--filter'],
  ['zip', '-T --unzip-command --TT'],
  [
    'rsync scp sftp',
    '-e -S -o -F -D -s --rsh --rsync-path --remote-option --program --server --daemon --config',
  ],
  ['wget', '-e --execute --config --use-askpass --post-file'],
  ['cargo', '-Z --config install run fix'],
  [
    'go',
    '--exec --toolexec --vettool --overlay --modfile --ldflags --gcflags --gccgoflags --asmflags --pkgdir --compiler --C run generate install get tool env',
  ],
  ['rustc', '-C -L --codegen --extern'],
  ['gcc cc c++ g++ clang clang++', '-B --wrapper --fplugin --specs --xclang --load --fuse-ld'],
  ['make gmake', '-f -E -I --file --makefile --eval --include-dir'],
  ['cmake ctest', '-P -E -D --build-and-test --test-command --script --toolchain'],
  ['pytest py.test', '-p -c -o --config-file --pdbcls --rootdir --override-ini --confcutdir'],
  ['pylint mypy', '--init-hook --load-plugins --rcfile --config-file --python-executable'],
  ['pip pip3', '--python --index-url --extra-index-url --find-links --trusted-host install download wheel'],
  ['uv poetry pipenv bundle', '--config-file --python run x tool exec add install pip sync shell'],
  [
    'mocha jest vitest ava tap c8 nyc',
    '-r -c --require --import --loader --config --globalSetup --globalTeardown --setupFiles --setupFilesAfterEnv --runner --testRunner --transform --reporter --reporters --resolver --testEnvironment --node-option',
  ],
  [
    'eslint prettier stylelint biome',
    '-c --config --plugin --rulesdir --parser --resolve-plugins-relative-to',
  ],
  ['ts-node tsx', '-e -p -r --eval --print --require --import --loader --compiler'],
  [
    'docker podman nerdctl',
    '-H --host --context --config run exec create cp build buildx builder compose container image plugin context commit import load',
  ],
  [
    'kubectl oc',
    '--kubeconfig --server --token exec run cp debug edit plugin apply create attach proxy config',
  ],
  ['helm terraform tofu pulumi ansible ansible-playbook vagrant', '!'],
  ['gh glab', 'alias extension ext codespace cs api config'],
  ['hg', '--config --rsh --ssh --remotecmd --cwd -R extdiff merge commit'],
  ['svn', '--config-option --config-dir --diff-cmd --diff3-cmd --editor-cmd'],
  ['mvn gradle gradlew mvnw', '-I -D -P -b -s -f --init-script --settings --build-file --file exec'],
  ['dotnet msbuild', '-p --property --logger exec run script tool new add'],
  ['bazel buck', '--run_under --shell_executable run'],
  // programs without options that run anything, though some share a letter with such an option of other programs
  ['mv rm rmdir mkdir touch ln df uniq tr date comm', ''],
  ['printf test true false file tee sleep tsc cd', ''],
])

/** For programs that aren't in the table. */
const UNKNOWN = '-c -e -x -O'

/** Long options that run or load what they name, in any program. */
const ANY_PROGRAM = new Set(
  '--exec --exec-path --exec-batch --execdir --eval --script-shell --shell --checkpoint-action --to-command --use-compress-program --compress-program --rsh --rsh-command --rmt-command --info-script --new-volume-script --open-files-in-pager --upload-pack --receive-pack --config-env --pre --hostname-bin --pager --editor --node-options --require --import --loader --experimental-loader --preload --init-file --rcfile --ext-diff --extcmd --textconv --post-command --command --proxy-command'.split(
    ' ',
  ),
)

/** Programs that run their standard input if no argument names a file. */
const READS_CODE =
  /^(?:(?:a|ba|da|k|mk|z|fi|c|tc)?sh|node|nodejs|deno|bun|(?:python|pypy)[\d.]*|ruby|perl|php|lua|r|julia)$/

/** Wrapper programs, and the arguments before the command that they run; then that command itself is checked. */
const TRANSPARENT: ReadonlyArray<[RegExp, RegExp]> = [
  [/^(?:nohup|time|nice|setsid|command|builtin|bunx|pnpx|uvx)$/, /^$/],
  [/^g?timeout$/, /^\d+(?:\.\d+)?[smhd]?$/],
  [/^npx$/, /^(?:-y|--yes|--no|--no-install)$/],
]

/**
 * Where the command starts that a wrapper runs; 0 for other commands. `undefined` if the rule leaves open which one.
 */
export function innerCommand(words: readonly string[], open: readonly boolean[]): number | undefined {
  const prefix = TRANSPARENT.find(([program]) => program.test(programOf(words[0] ?? '')))?.[1]
  if (!prefix) return 0
  const inner = words.findIndex((word, at) => at > 0 && !prefix.test(word))
  return inner < 0 || open[inner] || words[inner]?.startsWith('-') ? undefined : inner
}

/** Programs that write files which their arguments don't name: the contents of an archive, a patch or a URL. */
const WRITES_UNNAMED = new Set(
  'install patch unzip 7z 7za 7zz unrar unar cpio pax ar rsync scp sftp rclone wget aria2c ditto robocopy xcopy svn hg'.split(
    ' ',
  ),
)
const GIT_WRITES_UNNAMED = new Set(
  'apply am checkout checkout-index restore switch reset read-tree merge pull rebase cherry-pick revert stash clone worktree submodule sparse-checkout init bisect format-patch archive'.split(
    ' ',
  ),
)

/**
 * Whether the command writes files that it doesn't name, so that they can't be checked. They could be protected ones.
 */
export function writesUnnamedFiles(name: string, words: readonly string[]): boolean {
  if (name !== 'git') return WRITES_UNNAMED.has(name)
  const subcommand = words.find((word, at) => at > 0 && GIT_WRITES_UNNAMED.has(word))
  return subcommand !== undefined
}

/**
 * Whether the command may run or load something that an open word names. `open`: for each word, whether the rule leaves
 * it open.
 */
export function runsOpenCode(words: readonly string[], open: readonly boolean[]): boolean {
  const name = programOf(words[0] ?? '')
  if (name === 'git') return gitRunsOpenCode(words, open)
  if (name === 'awk' || name === 'gawk' || name === 'mawk' || name === 'nawk')
    return words.some((word, at) => at > 0 && open[at] && /system|\||>|getline|ARG[VC]|@|^-/.test(word))
  if (name === 'sed' || name === 'gsed') return sedRunsOpenCode(words, open)
  // shells evaluate a subscript in a variable's name or a number, although it's quoted: `printf -v 'a[$(x)]'`
  if (name === 'printf' || name === 'test') return words.some((word, at) => open[at] && /[$`]/.test(word))
  const effects = effectsOf(name)
  if (effects.anything) return true
  if (/^g?make$/.test(name) && words.some((word, at) => at > 0 && open[at] && word.includes('='))) return true
  if (/^(?:--version|-V|--help)$/.test(words[1] ?? '') && words.length === 2) return false
  if (READS_CODE.test(name)) {
    const file = words.findIndex((word, at) => at > 0 && !/^-./.test(word))
    // standard input
    if (file < 0 || words[file] === '-') return true
  }
  // with another subcommand in the rule, the words after it belong to that one
  const named =
    words.length > 1 && !open[1] && !/^-/.test(words[1] ?? '') && !effects.subcommands.has(words[1] ?? '')
  return words.some((word, at) => {
    if (at === 0) return false
    if (isOption(word, effects)) return open[at] || open[at + 1] === true
    if (!named && effects.subcommands.has(word)) return open.includes(true, at)
    return open[at] === true && /^(?:https?|npm|jsr|data):/.test(word) && name === 'deno'
  })
}

interface Effects {
  anything: boolean
  letters: ReadonlySet<string>
  long: readonly string[]
  subcommands: ReadonlySet<string>
}

function table(rows: ReadonlyArray<[string, string]>): ReadonlyMap<string, Effects> {
  const all = new Map<string, Effects>()
  for (const [names, effects] of rows) for (const name of names.split(' ')) all.set(name, read(effects))
  return all
}

function read(text: string): Effects {
  const words = text.split(' ').filter(word => word !== '')
  return {
    anything: words.includes('!'),
    letters: new Set(words.flatMap(word => (/^-\w$/.test(word) ? word.slice(1) : []))),
    long: words.flatMap(word => (/^--?\w{2}/.test(word) ? word.replace(/^-+/, '') : [])),
    subcommands: new Set(words.filter(word => /^\w/.test(word))),
  }
}

function effectsOf(name: string): Effects {
  if (/^(?:python|pypy|py)[\d.]*$/.test(name)) return read('-c -m -X')
  return PROGRAMS.get(name) ?? read(UNKNOWN)
}

/** `/usr/bin/Git.exe` is `git`. */
export function programOf(word: string): string {
  const base = /[^\\/]*$/.exec(word)?.[0] ?? word
  return base.toLowerCase().replace(/\.(?:exe|cmd|bat|com|ps1)$/, '')
}

function isOption(word: string, { letters, long }: Effects): boolean {
  if (!/^-[^-]|^--./.test(word)) return false
  const [name = ''] = word.replace(/^-+/, '').split(/[=:]/)
  if (ANY_PROGRAM.has(`--${name}`)) return true
  const folded = name.toLowerCase()
  const known = long.find(option => {
    const full = option.toLowerCase()
    return full === folded || ((folded.length > 1 || word.startsWith('--')) && full.startsWith(folded))
  })
  if (known !== undefined) return true
  // `--config.script-shell`, `-Dexec.x`
  if (word.startsWith('--')) return long.some(option => folded.startsWith(`${option.toLowerCase()}.`))
  return [...name].some(letter => letters.has(letter))
}

/** sed scripts that only print or delete lines, or replace plain text with plain text. */
const PLAIN_SED =
  /^(?:[\d$,~+! ]*[pdq=]|[\d$,]*s([/|#,])(?:(?!\1)[^\\\n;{}]|\\[^\n])*\1(?:(?!\1)[^\\\n;{}]|\\[^\n])*\1[gpIi\d]*)$/

function sedRunsOpenCode(words: readonly string[], open: readonly boolean[]): boolean {
  let script: number | undefined
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? ''
    if (/^-[nErsuz]+$|^-i$|^--(?:quiet|silent|regexp-extended|in-place)$/.test(word)) continue
    if (word.startsWith('-')) return open[at] === true || open[at + 1] === true
    script ??= at
  }
  if (script === undefined || !open[script]) return false
  return !PLAIN_SED.test(words[script] ?? '')
}

/** Options before Git's subcommand that don't change what runs. */
const GIT_PLAIN = new Set([
  '--no-pager',
  '-P',
  '--no-optional-locks',
  '--no-replace-objects',
  '--literal-pathspecs',
  '--version',
])
const GIT_TAKES_VALUE =
  /^(?:-[cC]|--(?:git-dir|work-tree|namespace|exec-path|config-env|attr-source|super-prefix))$/
/** Other subcommands may be aliases or separate programs. */
const GIT_SUBCOMMANDS = new Set(
  'add am apply archive bisect blame branch bundle cat-file check-attr check-ignore checkout cherry-pick clean clone commit config count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree merge merge-base mv name-rev notes prune pull push range-diff read-tree rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show show-ref stash status submodule switch symbolic-ref tag update-index version whatchanged worktree write-tree'.split(
    ' ',
  ),
)
const GIT_EFFECTS = read(
  '--open-files-in-pager --upload-pack --receive-pack --exec --ext-diff --textconv --template --tool --extcmd --interactive --config --git-dir --work-tree --exec-path --config-env --namespace --super-prefix --attr-source --sendmail-cmd --smtp-server --unsafe-paths',
)
/** Options of Git's subcommands that have another meaning elsewhere. */
const GIT_LETTERS: Readonly<Record<string, string>> = { grep: 'O', rebase: 'xi', clone: 'cu' }

function gitRunsOpenCode(words: readonly string[], open: readonly boolean[]): boolean {
  let at = 1
  for (let word = words[at]; word?.startsWith('-'); word = words[at]) {
    const length = GIT_TAKES_VALUE.test(word) ? 2 : 1
    // -c, -C, --git-dir and others choose what runs
    if (!GIT_PLAIN.has(word) && open.slice(at, at + length).includes(true)) return true
    at += length
  }
  const subcommand = words[at]
  if (subcommand === undefined) return false
  if (!GIT_SUBCOMMANDS.has(subcommand)) return open.includes(true, at)
  if (!open.includes(true, at + 1) && !open[at]) return false
  const rest = words.slice(at + 1)
  const letters = new Set(GIT_LETTERS[subcommand] ?? '')
  return rest.some((word, i) => {
    const index = at + 1 + i
    // a remote that is a program, such as ext::sh
    if (/^(?:--[\w-]+=)?[\w-]+::/.test(word)) return open[index]
    return isOption(word, { ...GIT_EFFECTS, letters }) && (open[index] || open[index + 1] === true)
  })
}
