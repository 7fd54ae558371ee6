import { createHash } from 'node:crypto'
import { isAbsolute, join, resolve } from 'node:path'
import * as l10n from '@vscode/l10n'
import type { AgentLaunch, AgentStartFailure } from '../acp/agent.ts'
import { findCommand, mergeEnvironment } from '../common/processes/spawn-process.ts'
import { prepareAccountFolder } from './account-folder.ts'
import type { AgentDefinition } from './definition.ts'
import { isDirectory } from './environment.ts'
import type { LaunchEnvironment } from './launch-environment.ts'
import { settingPath } from './setting-problem.ts'
import { substitute, type VariableContext } from './variables.ts'

export interface LaunchContext {
  environment: LaunchEnvironment
  /** Resolves to the environment of processes in a folder, which the folder's project may change. Default: `environment`. */
  environmentIn?: (folder: string) => Promise<LaunchEnvironment>
  /** The absolute paths of the workspace folders on this machine's disk; the first one is the default `cwd`. */
  folders: ReadonlyArray<{ name: string; path: string }>
  userHome: string
}

export type LaunchResolution =
  /** `notes`: sentences for the agent's log about configurations that work but may be unexpected. */
  | { ok: AgentLaunch; notes: string[] }
  /** `message`: one or two sentences about the failure, for an `AgentStartError`. */
  | { failure: AgentStartFailure; message: string }

/**
 * Resolves a definition for spawning: replaces variables, and determines the absolute path of the command, an existing `cwd`, and the whole
 * environment. Fails with `command-missing`, or with `spawn` if a variable or the directory is wrong.
 */
export async function resolveLaunch(
  definition: AgentDefinition,
  context: LaunchContext,
): Promise<LaunchResolution> {
  const { environment } = context
  const wrong: string[] = []
  const notes: string[] = []
  const variables: VariableContext = {
    folders: context.folders,
    userHome: context.userHome,
    env: environment.env,
    platform: environment.platform,
  }
  const replaced = (text: string, path: Array<string | number>): string => {
    const substitution = substitute(text, variables)
    for (const problem of substitution.problems) {
      const where = settingPath('parley.agents', [definition.id, ...path])
      const sentence = l10n.t('{0}: {1}: {2}.', where, problem.variable, problem.message)
      if (problem.fatal) wrong.push(sentence)
      else notes.push(sentence)
    }
    return substitution.text
  }

  const { source } = definition
  // The paths of installed agents are used unchanged. Variables are replaced in everything that may come from the settings.
  const ofUser = source === 'settings' ? replaced : (text: string) => text
  const command = expandHome(ofUser(definition.command, ['command']), context.userHome)
  const args = definition.args.map((arg, at) => (source === 'preset' ? replaced : ofUser)(arg, ['args', at]))
  const ownEnv = Object.fromEntries(
    Object.entries(definition.env).map(([name, value]) => [name, replaced(value, ['env', name])]),
  )
  const defaultCwd = context.folders[0]?.path ?? context.userHome
  const cwd =
    definition.cwd === undefined
      ? defaultCwd
      : resolve(defaultCwd, expandHome(replaced(definition.cwd, ['cwd']), context.userHome))
  const fail = (message: string): LaunchResolution => ({
    failure: { kind: 'spawn', command: definition.command, message },
    message,
  })

  if (wrong.length > 0) return fail(wrong.join(' '))
  if (command.trim() === '') {
    const where = settingPath('parley.agents', [definition.id, 'command'])
    return fail(l10n.t('{0}: the value is empty after variables are replaced.', where))
  }
  if (!(await isDirectory(cwd))) {
    return fail(l10n.t('The working directory for "{0}" doesn\'t exist: {1}', definition.name, cwd))
  }

  if (definition.account) {
    const reason = await prepareAccountFolder(definition.account)
    if (reason !== undefined)
      return fail(
        l10n.t(
          "The folder of the account can't be used: {0}. The agent wasn't started, since it could use another account.",
          reason,
        ),
      )
  }

  // The environment variables that the user configured for the agent take precedence.
  const base = (await context.environmentIn?.(cwd)) ?? environment
  const env = mergeEnvironment(base.env, ownEnv, environment.platform)
  const search = await findCommand(command, { env, cwd, platform: environment.platform })
  if ('searched' in search) {
    const failure: AgentStartFailure = { kind: 'command-missing', command, searched: search.searched }
    return { failure, message: missing(command, search.searched) }
  }
  return { ok: { command: search.path, args, env, cwd }, notes }
}

function missing(command: string, searched: string[]): string {
  if (isAbsolute(command)) return l10n.t('No program was found at {0}.', command)
  if (searched.length === 0) return l10n.t('The program "{0}" wasn\'t found: the PATH is empty.', command)
  if (searched.length === 1)
    return l10n.t('The program "{0}" wasn\'t found in {1}.', command, searched[0] ?? '')
  return l10n.t(
    'The program "{0}" wasn\'t found in the {1} directories of the PATH.',
    command,
    searched.length,
  )
}

/** Replaces `~` at the start of a path. Users write `~` and `~/…` in settings, where no shell expands them. */
export function expandHome(path: string, home: string): string {
  if (path === '~') return home
  return /^~[\\/]/.test(path) ? join(home, path.slice(2)) : path
}

/** How an agent is started, as configured. */
export type ConfiguredLaunch = Pick<AgentDefinition, 'command' | 'args' | 'env' | 'cwd' | 'remote'>

export function configuredLaunch({ command, args, env, cwd, remote }: ConfiguredLaunch): ConfiguredLaunch {
  return { command, args, env, cwd, ...(remote && { remote }) }
}

/** The folder of an installed agent's version: `agents/<id>/<version>-<unique>/`. */
const VERSION_FOLDER = /([/\\]agents[/\\][^/\\]+[/\\])[^/\\]+-[0-9a-f]{8}(?=[/\\])/

/**
 * Returns a hash of how an agent is started, as configured: the program or the server, the arguments, the environment and the directory. A
 * workspace may redefine an agent's id. Values that the user entered for the original agent must not be passed to the redefined agent.
 */
export function launchFingerprint({
  command,
  args,
  env,
  cwd,
  remote,
  source,
}: ConfiguredLaunch & Partial<Pick<AgentDefinition, 'source'>>): string {
  // An updated version of an installed agent is still the same agent for the user.
  const plain = (path: string) => (source === 'installed' ? path.replace(VERSION_FOLDER, '$1') : path)
  const variables = Object.entries(env).sort(([a], [b]) => (a < b ? -1 : 1))
  const server = remote
    ? [remote.url, Object.entries(remote.headers).sort(), remote.sharesFiles ?? false]
    : []
  const written = JSON.stringify([plain(command), args.map(plain), variables, cwd ?? null, ...server])
  return createHash('sha256').update(written).digest('base64url')
}
