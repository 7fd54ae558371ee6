import { homedir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import * as z from 'zod'
import type { Environment } from '../../common/processes/spawn-process.ts'
import type { LaunchEnvironment } from '../launch-environment.ts'
import { isOfOtherProject, undoMise } from './mise-session.ts'

/** The variables that a tool sets, by name; `null` removes a variable. */
export type EnvironmentChanges = Record<string, string | null>

/** A tool that provides an environment for a folder, if the user has allowed the folder with the tool itself. */
export interface ProjectTool {
  /** the command, by whose name users know the tool */
  command: string
  args: readonly string[]
  /** Variables only for the tool. */
  env: Readonly<Environment>
  /**
   * A command that fails if the user hasn't allowed the files. It runs before the tool, only with the environment variables that match
   * `seen`.
   */
  check?: Pick<ProjectTool, 'args' | 'env'> & { seen: RegExp }
  /** The relative paths of the tool's files. The tool runs only if one of them is in the folder or in a parent. */
  files: readonly string[]
  /** Matches the tool's output if the user hasn't allowed the file. */
  blocked: RegExp
  /** The terminal command with which the user allows the file. */
  allow: string
  /** Matches the error message in the tool's output. Other output may contain secrets of the project. */
  error: RegExp
  /** Matches the names of the variables in which the tool stores its own state. */
  state: RegExp
  /**
   * Whether the environment already contains the tool's changes for another folder. The editor may have them from the terminal in which the
   * user started it.
   */
  isLoaded: (env: Readonly<Environment>, folder: string) => boolean
  /**
   * Returns the changes that revert what the tool has already set. If this function is absent, the tool reverts its changes itself when it
   * runs where there is no project.
   */
  undo?: (base: Pick<LaunchEnvironment, 'env' | 'platform'>) => EnvironmentChanges | undefined
  /** Returns further files and folders on which the result depends. */
  watched: (base: Readonly<Environment>, changes: EnvironmentChanges) => string[]
}

/**
 * The variables that determine where mise finds its settings and its list of trusted files, and variables that any program needs. mise must
 * not see other variables: about a hundred of them could make it assume that it runs in continuous integration, where it trusts every file.
 */
const OF_MISE_TRUST =
  /^(?:HOME|PATH|USER|LOGNAME|SHELL|LANG|LC_\w+|TMPDIR|XDG_\w+|MISE_\w+|(?:DY)?LD_\w+|NIX_\w+|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|TEMP|TMP)$/i

/**
 * The user's own settings may answer all of mise's questions with yes. These variables prevent that mise therefore trusts files or installs
 * something.
 */
const OF_MISE = { MISE_YES: '0', MISE_AUTO_INSTALL: '0' }

/**
 * The tools, in the order in which they are applied: a later tool overrides an earlier one. asdf needs no entry, because its shims on the
 * PATH read the folder's files themselves. devenv and Nix flakes have no command to allow a folder, but direnv's `use devenv` and
 * `use flake` do.
 */
export const projectTools: readonly ProjectTool[] = [
  {
    command: 'mise',
    args: ['env', '--json'],
    env: OF_MISE,
    // `mise trust --show` isn't used, because it reads all files as if they were trusted, and executes them when mise runs for the first
    // time.
    check: {
      args: ['config', 'ls'],
      env: { ...OF_MISE, MISE_NO_ENV: '1', MISE_NO_HOOKS: '1' },
      seen: OF_MISE_TRUST,
    },
    files: [
      'mise.local.toml',
      '.mise.local.toml',
      'mise.toml',
      '.mise.toml',
      'mise/config.toml',
      '.mise/config.toml',
      '.config/mise.toml',
      '.config/mise/config.toml',
      '.tool-versions',
    ],
    blocked: /\bnot trusted\b/,
    allow: 'mise trust',
    error: /^mise ERROR (.+)$/m,
    state: /^(?:__MISE_|MISE_SHELL$)/,
    isLoaded: isOfOtherProject,
    undo: undoMise,
    watched: ({ MISE_STATE_DIR, XDG_STATE_HOME, HOME = homedir() }) => [
      join(MISE_STATE_DIR ?? join(XDG_STATE_HOME ?? join(HOME, '.local/state'), 'mise'), 'trusted-configs'),
    ],
  },
  {
    command: 'direnv',
    args: ['export', 'json'],
    env: {},
    files: ['.envrc'],
    blocked: /\bis blocked\b/,
    allow: 'direnv allow',
    error: /^direnv: error (.+)$/m,
    state: /^DIRENV_/,
    isLoaded: ({ DIRENV_DIFF }) => DIRENV_DIFF !== undefined,
    watched: (_, { DIRENV_WATCHES }) => (DIRENV_WATCHES ? watchedByDirenv(DIRENV_WATCHES) : []),
  },
]

/** The maximum number of watched files. No project needs more. */
const MAX_WATCHED = 100
const watchesSchema = z.array(z.object({ Path: z.string() })).transform(all => all.map(({ Path }) => Path))

/** Returns the files on which direnv's environment depends, including the file that stores the permission. */
function watchedByDirenv(encoded: string): string[] {
  try {
    const text = inflateSync(Buffer.from(encoded, 'base64url'), { maxOutputLength: 1_000_000 }).toString()
    return watchesSchema.parse(JSON.parse(text)).slice(0, MAX_WATCHED)
  } catch {
    return []
  }
}

/** Whether a variable contains a tool's own state. */
export function isToolState(name: string): boolean {
  return projectTools.some(({ state }) => state.test(name))
}

const changesSchema = z.record(z.string(), z.string().nullable())

/** The maximum size of a variable with its name, in bytes. Linux starts no process with a larger variable. Windows has a lower limit. */
const MAX_VARIABLE = 128 * 1024 - 1

/**
 * Returns the differences between an environment that a tool printed and `base`. Throws if the output isn't an environment, or if no
 * process could start with it.
 */
export function readChanges(output: string, base: Readonly<Environment>): EnvironmentChanges {
  const changes: EnvironmentChanges = {}
  // direnv prints nothing if nothing changes.
  const printed = output.trim() === '' ? {} : changesSchema.parse(JSON.parse(output))
  for (const [name, value] of Object.entries(printed)) {
    if (name === '' || /[=\0]/.test(name) || value?.includes('\0')) continue
    if (value !== null && Buffer.byteLength(`${name}=${value}\0`) > MAX_VARIABLE)
      throw new Error(`The variable ${name} is too long.`)
    if (value === null ? name in base : base[name] !== value) changes[name] = value
  }
  return changes
}
