import { join } from 'node:path'

/** A version of VS Code for the tests. */
export interface VsCodeVersion {
  name: 'current' | 'floor'
  version: string
  /** Contains the package.json and the lock file of what is installed for it. */
  toolsDirectory: string
  /** Native modules of VS Code that are distributed as source and that the workbench needs, below its node_modules. */
  nativeModules: string[]
}

const tools = join(import.meta.dirname, 'tools')

/** The version that most people have. */
export const current: VsCodeVersion = {
  name: 'current',
  version: '1.139.1',
  toolsDirectory: join(tools, 'current'),
  nativeModules: ['@vscode/spdlog', '@vscode/native-watchdog'],
}

/** The lowest version that `engines.vscode` allows. */
export const floor: VsCodeVersion = {
  name: 'floor',
  version: '1.103.2',
  toolsDirectory: join(tools, 'floor'),
  nativeModules: ['@vscode/spdlog', 'native-watchdog', 'node-pty'],
}
