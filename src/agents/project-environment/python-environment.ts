import { stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { Event } from '../../common/event.ts'
import { environmentLookUp, pathDelimiter } from '../../common/processes/spawn-process.ts'
import type { LaunchEnvironment } from '../launch-environment.ts'
import type { EnvironmentChanges } from './project-tools.ts'

/** What the user selected with the editor's extension for Python. */
export interface PythonSelection {
  /** The path of an interpreter, or of an environment's folder, as the extension says it: unchecked. */
  selected(folder: string): Promise<unknown>
  onDidChange: Event<void>
}

/** An environment on this machine's disk. */
export interface PythonEnvironment {
  folder: string
  /** The file or folder by which it's recognized. */
  marker: string
  isConda: boolean
}

const MAX_PATH = 4096

/**
 * The environment of what was selected. The disk decides, since an extension's answer can be old or wrong; `undefined` for an
 * interpreter that belongs to the whole machine.
 */
export async function pythonEnvironment(
  selected: unknown,
  platform: NodeJS.Platform,
): Promise<PythonEnvironment | undefined> {
  if (typeof selected !== 'string' || selected.length > MAX_PATH || !isAbsolute(selected)) return undefined
  // such a folder would be several ones in the PATH; `venv` creates none either
  if (selected.includes('\0') || selected.includes(pathDelimiter(platform))) return undefined
  const beside = dirname(selected)
  // an environment's folder, conda's interpreter on Windows, and any other
  const folders = [
    selected,
    beside,
    ...(/^(?:bin|Scripts)$/i.test(basename(beside)) ? [dirname(beside)] : []),
  ]
  for (const folder of folders) {
    for (const [name, isConda] of [['pyvenv.cfg', false] as const, ['conda-meta', true] as const]) {
      const marker = join(folder, name)
      const found = await stat(marker).catch(() => undefined)
      if (isConda ? found?.isDirectory() : found?.isFile()) return { folder, marker, isConda }
    }
  }
  return undefined
}

/** What the environment's own `activate` changes, without the shell's prompt. */
export async function activation(
  { folder, isConda }: PythonEnvironment,
  { env, platform }: Pick<LaunchEnvironment, 'env' | 'platform'>,
): Promise<EnvironmentChanges> {
  const old = environmentLookUp(env, 'PATH', platform)
  const folders = programFolders(isConda, platform).map(name => join(folder, name))
  const changes: EnvironmentChanges = {
    PATH: [...folders, ...(old ? [old] : [])].join(pathDelimiter(platform)),
  }
  if (isConda) return { ...changes, CONDA_PREFIX: folder, CONDA_DEFAULT_ENV: await condaName(folder) }
  // it would make the environment's Python load the modules of another
  if (env.PYTHONHOME !== undefined) changes.PYTHONHOME = null
  return { ...changes, VIRTUAL_ENV: folder }
}

function programFolders(isConda: boolean, platform: NodeJS.Platform): string[] {
  if (platform !== 'win32') return ['bin']
  if (!isConda) return ['Scripts']
  return ['', 'Library/mingw-w64/bin', 'Library/usr/bin', 'Library/bin', 'Scripts', 'bin']
}

/** As conda names it: that of the installation itself is `base`, and one outside of `envs` has only its path. */
async function condaName(folder: string): Promise<string> {
  if (basename(dirname(folder)) === 'envs') return basename(folder)
  const isBase = await stat(join(folder, 'condabin')).catch(() => undefined)
  return isBase ? 'base' : folder
}
