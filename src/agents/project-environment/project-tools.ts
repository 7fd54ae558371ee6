import { homedir } from 'node:os'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import * as z from 'zod'
import type { Environment } from '../../common/processes/spawn-process.ts'
import type { LaunchEnvironment } from '../launch-environment.ts'
import { isOfOtherProject, undoMise } from './mise-session.ts'

/** What a tool sets, by name; `null` removes a variable. */
export type EnvironmentChanges = Record<string, string | null>

/** A tool that gives a folder an environment, if the user allowed that by the tool's own means. */
export interface ProjectTool {
  /** the command, which is also the name that users know */
  command: string
  args: readonly string[]
  /** Variables for the tool alone. */
  env: Readonly<Environment>
  /** Fails before the tool runs if the user didn't allow the files. Of the environment's variables, it has those of `seen`. */
  check?: Pick<ProjectTool, 'args' | 'env'> & { seen: RegExp }
  /** Relative paths of its files, in a folder or its parents. Without one of them, the tool doesn't run. */
  files: readonly string[]
  /** What the tool prints if the user didn't allow the file. */
  blocked: RegExp
  /** How the user allows it, in a terminal. */
  allow: string
  /** The sentence with which the tool says that it failed. Other output may contain secrets of the project. */
  error: RegExp
  /** Variables in which the tool keeps its own state. */
  state: RegExp
  /**
   * Whether the tool has already changed the environment, which is that of the terminal in which the user started the editor, for
   * something else than the folder.
   */
  isLoaded: (env: Readonly<Environment>, folder: string) => boolean
  /** What takes that back, if the tool has changed anything. Without it, the tool takes it back where there is no project. */
  undo?: (base: Pick<LaunchEnvironment, 'env' | 'platform'>) => EnvironmentChanges | undefined
  /** Further files and folders that decide about the result. */
  watched: (base: Readonly<Environment>, changes: EnvironmentChanges) => string[]
}

/**
 * What decides where mise's settings and its list of trusted files are, and what a program needs to run at all. With any other
 * variable, mise may believe that it runs in a continuous integration, where it trusts every file; there are about a hundred.
 */
const OF_MISE_TRUST =
  /^(?:HOME|PATH|USER|LOGNAME|SHELL|LANG|LC_\w+|TMPDIR|XDG_\w+|MISE_\w+|(?:DY)?LD_\w+|NIX_\w+|USERPROFILE|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|PROGRAMDATA|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|TEMP|TMP)$/i

/** mise must neither trust files nor install anything only because the user's own settings answer its questions with yes. */
const OF_MISE = { MISE_YES: '0', MISE_AUTO_INSTALL: '0' }

/**
 * In the order in which they apply: what the later ones set wins. asdf needs no entry, since its shims, which are on the
 * PATH, read the folder's files themselves. devenv and Nix flakes have no way of their own to allow a folder; direnv's
 * `use devenv` and `use flake` do.
 */
export const projectTools: readonly ProjectTool[] = [
  {
    command: 'mise',
    args: ['env', '--json'],
    env: OF_MISE,
    // `mise trust --show` reads all files as if they were trusted, and runs what is in them when mise runs for the first time
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

/** The files on which the environment depends, the one that stores the permission among them. */
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
 * What a tool printed, without what doesn't differ from `base`. Throws if it isn't an environment, or if no process could
 * start with it.
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
