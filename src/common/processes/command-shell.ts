import { accessSync, constants } from 'node:fs'
import { delimiter, dirname, isAbsolute, join } from 'node:path/win32'
import { hostPlatform } from '../platform.ts'
import { type Environment, environmentLookUp, pathVariable } from './spawn-process.ts'

/**
 * The shell that runs an agent's command line. Models write lines for bash, so the result is the user's shell if that is bash or zsh, or
 * else bash, or else `sh`: fish and other shells wouldn't understand the lines. On Windows, a line that `cmd.exe` doesn't understand runs
 * in the bash of Git for Windows. For other lines, the result is `undefined`, and Node's `shell` option uses `cmd.exe`.
 * @throws Error for the agent, if a line needs bash and there is none
 */
export function shellFor(
  line: string,
  env: Readonly<Environment>,
  platform: NodeJS.Platform = hostPlatform,
  isExecutable: (path: string) => boolean = executable,
): string | undefined {
  if (platform === 'win32') {
    if (!needsBash(line)) return undefined
    const bash = gitBashes(env).find(isExecutable)
    // bash's programs may be on the PATH even if bash isn't
    if (bash !== undefined || !hasBashSyntax(line)) return bash
    throw new Error(
      "The command line is written for bash, which isn't installed on this Windows machine: Git for Windows has one. Without it, command lines run in cmd.exe.",
    )
  }
  const own = env.SHELL
  const candidates = own && /\/(bash|zsh)$/.test(own) ? [own] : []
  candidates.push('/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/run/current-system/sw/bin/bash')
  return candidates.find(isExecutable) ?? '/bin/sh'
}

/** Programs and builtins in command lines for bash that `cmd.exe` doesn't have, or not with these options. */
const BASH_PROGRAMS =
  'ls|cat|rm|cp|mv|touch|pwd|grep|egrep|sed|awk|head|tail|wc|cut|tr|uniq|xargs|tee|which|chmod|ln|du|df|ps|kill|env|printf|test|true|false|sleep|uname|basename|dirname|realpath|export|source|unset|set\\s+-\\w+|mkdir\\s+-p|find\\s+\\S+\\s+-\\w+|[A-Za-z_]\\w*=\\S*'
const CMD_PROGRAMS =
  'dir|copy|xcopy|del|erase|move|ren|rd|type|findstr|set\\s+\\w+=\\S*|where|if\\s+(?:not\\s+)?exist|for\\s+/\\w|call|start|powershell|pwsh|cmd'
const program = (names: string) => new RegExp(`(?:^|[|&(;]\\s*)(?:${names})(?:\\.exe)?(?=[\\s;|&)]|$)`, 'i')
const BASH_PROGRAM = program(BASH_PROGRAMS)
/**
 * Syntax that needs bash: `cmd.exe` doesn't support single quotes, semicolons, backticks or here documents, and runs only the first of
 * several lines.
 */
const BASH_SYNTAX = /(?:^|[\s=])'[^']*'|;(?:\s|$)|`|<<|\[\[\s|\/dev\/null|\$\w|\n\s*\S/
/** Expansions that bash also applies within double quotes. */
const BASH_EXPANSION = /\$[({]|\$[A-Z_]+\b/
const CMD_ONLY = [program(CMD_PROGRAMS), /%\w+%|\^[&|<>^\n]/]

/** Whether a command line on Windows works only in bash. Characters and words that both shells support don't count. */
export function needsBash(line: string): boolean {
  const unquoted = withoutQuoted(line)
  if (CMD_ONLY.some(pattern => pattern.test(unquoted))) return false
  return BASH_PROGRAM.test(unquoted) || hasBashSyntax(line)
}

function hasBashSyntax(line: string): boolean {
  return BASH_EXPANSION.test(line) || BASH_SYNTAX.test(withoutQuoted(line))
}

function withoutQuoted(line: string): string {
  return line.trim().replace(/"(?:[^"\\]|\\.)*"/g, '""')
}

/** The paths where Git for Windows may have its bash. The bash in Windows's own folder isn't used: it belongs to WSL, another system. */
function gitBashes(env: Readonly<Environment>): string[] {
  const variable = (name: string) => environmentLookUp(env, name, 'win32')
  const own = ['CLAUDE_CODE_GIT_BASH_PATH', 'SHELL']
    .map(variable)
    .filter((path): path is string => path !== undefined && isAbsolute(path) && /\\bash\.exe$/i.test(path))
  // the `cmd` or `bin` folder of Git is on the PATH
  const besides = pathVariable(env, 'win32')
    .split(delimiter)
    .filter(folder => /\\git(?:\\current)?\\(?:cmd|bin)$/i.test(folder))
    .map(dirname)
  const installed = ['ProgramFiles', 'ProgramFiles(x86)']
    .map(variable)
    .filter(folder => folder !== undefined)
    .map(folder => join(folder, 'Git'))
  const local = variable('LOCALAPPDATA')
  if (local !== undefined) installed.push(join(local, 'Programs', 'Git'))
  const paths = [...besides, ...installed].map(folder => join(folder, 'bin', 'bash.exe'))
  return [...own, ...paths]
}

function executable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
