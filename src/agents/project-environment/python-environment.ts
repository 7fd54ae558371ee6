import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { Event } from '../../common/event.ts'
import { type Environment, environmentLookUp, pathDelimiter } from '../../common/processes/spawn-process.ts'
import { readBounded } from '../../common/read-bounded.ts'
import type { LaunchEnvironment } from '../launch-environment.ts'
import { type EnvironmentChanges, readChanges } from './project-tools.ts'

/** The Python environment that the user selected in VS Code's Python extension. */
export interface PythonSelection {
  /** Resolves to the path of an interpreter, or of an environment's folder, as the extension reports it, unchecked. */
  selected(folder: string): Promise<unknown>
  onDidChange: Event<void>
}

/** A Python environment on this machine's disk. */
export interface PythonEnvironment {
  folder: string
  /** The files that identify the environment or change its activation. */
  watched: readonly string[]
  isConda: boolean
}

const MAX_PATH = 4096

/** The file with the variables that the user gave a conda environment. */
const CONDA_STATE = join('conda-meta', 'state')
/** The value that conda stores for a variable that the user has removed. */
const CONDA_UNSET = '***unset***'
const MAX_CONDA_FILES = 100
const MAX_CONDA_BYTES = 1_000_000

/**
 * Resolves to the environment that the user selected. Only the disk counts, because the extension's answer may be old or wrong. Resolves to
 * `undefined` for an interpreter that belongs to the whole machine.
 */
export async function pythonEnvironment(
  selected: unknown,
  platform: NodeJS.Platform,
): Promise<PythonEnvironment | undefined> {
  if (typeof selected !== 'string' || selected.length > MAX_PATH || !isAbsolute(selected)) return undefined
  // A folder with a delimiter would become several folders in the PATH. `venv` refuses to create such a folder, too.
  if (selected.includes('\0') || selected.includes(pathDelimiter(platform))) return undefined
  const beside = dirname(selected)
  // The selection may be an environment's folder, conda's interpreter on Windows, or any other interpreter.
  const folders = [
    selected,
    beside,
    ...(/^(?:bin|Scripts)$/i.test(basename(beside)) ? [dirname(beside)] : []),
  ]
  for (const folder of folders) {
    for (const [name, isConda] of [['pyvenv.cfg', false] as const, ['conda-meta', true] as const]) {
      const marker = join(folder, name)
      const found = await stat(marker).catch(() => undefined)
      if (isConda ? found?.isDirectory() : found?.isFile())
        return { folder, watched: isConda ? [marker, join(folder, CONDA_STATE)] : [marker], isConda }
    }
  }
  return undefined
}

/** Resolves to the changes that the environment's own `activate` makes, without the shell's prompt. */
export async function activation(
  { folder, isConda }: PythonEnvironment,
  { env, platform }: Pick<LaunchEnvironment, 'env' | 'platform'>,
): Promise<EnvironmentChanges> {
  const old = environmentLookUp(env, 'PATH', platform)
  const folders = programFolders(isConda, platform).map(name => join(folder, name))
  const changes: EnvironmentChanges = {
    PATH: [...folders, ...(old ? [old] : [])].join(pathDelimiter(platform)),
  }
  if (isConda)
    return {
      ...(await condaVariables(folder, env)),
      ...{ ...changes, CONDA_PREFIX: folder, CONDA_DEFAULT_ENV: await condaName(folder) },
    }
  // PYTHONHOME would make the environment's Python load another Python's modules.
  if (env.PYTHONHOME !== undefined) changes.PYTHONHOME = null
  return { ...changes, VIRTUAL_ENV: folder }
}

/**
 * Resolves to the variables that are added when a conda environment is activated: first those of packages, then those of
 * `conda env config vars set`. The scripts in `activate.d` aren't run, because each is for one shell and can do anything. Damaged files are
 * ignored.
 */
async function condaVariables(folder: string, env: Readonly<Environment>): Promise<EnvironmentChanges> {
  const packages = join(folder, 'etc', 'conda', 'env_vars.d')
  const names = await readdir(packages).catch(() => [])
  const found: EnvironmentChanges = {}
  const files = names.filter(name => name.endsWith('.json')).toSorted()
  for (const file of [
    ...files.slice(0, MAX_CONDA_FILES).map(name => join(packages, name)),
    join(folder, CONDA_STATE),
  ])
    try {
      const stored = JSON.parse(await readBounded(file, MAX_CONDA_BYTES))
      const variables = file.endsWith(CONDA_STATE) ? stored.env_vars : stored
      const changes = readChanges(JSON.stringify(variables ?? {}), env)
      for (const [name, value] of Object.entries(changes)) if (value !== CONDA_UNSET) found[name] = value
    } catch {}
  return found
}

function programFolders(isConda: boolean, platform: NodeJS.Platform): string[] {
  if (platform !== 'win32') return ['bin']
  if (!isConda) return ['Scripts']
  return ['', 'Library/mingw-w64/bin', 'Library/usr/bin', 'Library/bin', 'Scripts', 'bin']
}

/** Resolves to the environment's name in conda: `base` for the installation itself, and the path for an environment outside of `envs`. */
async function condaName(folder: string): Promise<string> {
  if (basename(dirname(folder)) === 'envs') return basename(folder)
  const isBase = await stat(join(folder, 'condabin')).catch(() => undefined)
  return isBase ? 'base' : folder
}
