import { homedir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import * as z from 'zod'
import type { Environment } from '../../common/processes/spawn-process.ts'
import type { LaunchEnvironment } from '../launch-environment.ts'
import { isOfOtherProject, undoMise } from './mise-session.ts'

/** The variables that a tool sets, by name; `null` removes a variable. */
export type EnvironmentChanges = Record<string, string | null>

/** A tool that gives a folder an environment, if the user allowed that by the tool's own means. */
export interface ProjectTool {
  /** the command, by whose name users know the tool */
  command: string
  args: readonly string[]
  /** Variables for the tool alone. */
  env: Readonly<Environment>
  /**
   * A command that fails if the user didn't allow the files; runs before the tool, with only those variables of the environment that match
   * `seen`.
   */
  check?: Pick<ProjectTool, 'args' | 'env'> & { seen: RegExp }
  /** Relative paths of the tool's files, in a folder or its parents. Without one of these files, the tool doesn't run. */
  files: readonly string[]
  /** Matches the tool's output if the user didn't allow the file. */
  blocked: RegExp
  /** The terminal command with which the user allows the file. */
  allow: string
  /** Matches the tool's error message. Other output may contain secrets of the project. */
  error: RegExp
  /** Variables in which the tool stores its own state. */
  state: RegExp
  /**
   * Whether the editor's environment, from the terminal in which the user started the editor, already contains the tool's changes for
   * another folder.
   */
  isLoaded: (env: Readonly<Environment>, folder: string) => boolean
  /**
   * The changes that revert what the tool has already set. Without this function, the tool reverts its changes itself where there is no
   * project.
   */
  undo?: (base: Pick<LaunchEnvironment, 'env' | 'platform'>) => EnvironmentChanges | undefined
  /** Further files and folders that decide about the result. */
  watched: (base: Readonly<Environment>, changes: EnvironmentChanges) => string[]
}

/**
 * Variables that decide where mise finds its settings and its list of trusted files, and variables that any program needs. One of about a
 * hundred other variables could make mise believe that it runs in continuous integration, where it trusts every file.
 */
const OF_MISE_TRUST =
  /^(?:HOME|PATH|USER|LOGNAME|SHELL|LANG|LC_\w+|TMPDIR|XDG_\w+|MISE_\w+|(?:DY)?LD_\w+|NIX_\w+|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|TEMP|TMP)$/i

/** mise must neither trust files nor install anything only because the user's own settings answer its questions with yes. */
const OF_MISE = { MISE_YES: '0', MISE_AUTO_INSTALL: '0' }

/**
 * In the order in which the tools apply: a later tool overrides an earlier one. asdf needs no entry, since its shims on the PATH read the
 * folder's files themselves. devenv and Nix flakes can't allow a folder by themselves; direnv's `use devenv` and `use flake` can.
 */
export const projectTools: readonly ProjectTool[] = [
  {
    command: 'mise',
    args: ['env', '--json'],
    env: OF_MISE,
    // `mise trust --show` reads all files as if they were trusted, and executes them when mise runs for the first time
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

/** More can't be sensible, and would be watched. */
const MAX_WATCHED = 100
const watchesSchema = z.array(z.object({ Path: z.string() })).transform(all => all.map(({ Path }) => Path))

/** The files on which the environment depends, including the file that stores the permission. */
function watchedByDirenv(encoded: string): string[] {
  try {
    const text = inflateSync(Buffer.from(encoded, 'base64url'), { maxOutputLength: 1_000_000 }).toString()
    return watchesSchema.parse(JSON.parse(text)).slice(0, MAX_WATCHED)
  } catch {
    return []
  }
}

/** Whether a tool keeps its own state in a variable. */
export function isToolState(name: string): boolean {
  return projectTools.some(({ state }) => state.test(name))
}

const changesSchema = z.record(z.string(), z.string().nullable())

/** Bytes of a variable, with its name. Linux starts no process with a longer one; on Windows, the limit is lower. */
const MAX_VARIABLE = 128 * 1024 - 1

/**
 * Reads the environment that a tool printed, as its differences from `base`. Throws if the output isn't an environment, or if no process
 * could start with it.
 */
export function readChanges(output: string, base: Readonly<Environment>): EnvironmentChanges {
  const changes: EnvironmentChanges = {}
  // direnv prints nothing if there is nothing to change
  const printed = output.trim() === '' ? {} : changesSchema.parse(JSON.parse(output))
  for (const [name, value] of Object.entries(printed)) {
    if (name === '' || /[=\0]/.test(name) || value?.includes('\0')) continue
    if (value !== null && Buffer.byteLength(`${name}=${value}\0`) > MAX_VARIABLE)
      throw new Error(`The variable ${name} is too long.`)
    if (value === null ? name in base : base[name] !== value) changes[name] = value
  }
  return changes
}
