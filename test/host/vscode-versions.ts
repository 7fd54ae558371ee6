import { join } from 'node:path'

/** A version of VS Code for the tests. */
export interface VsCodeVersion {
  name: 'current' | 'floor'
  version: string
  /** Contains the package.json and the lock file of what is installed for it. */
  toolsDirectory: string
  /** Native modules in VS Code's node_modules that the workbench needs and that are distributed as source. */
  nativeModules: string[]
}

const tools = join(import.meta.dirname, 'tools')

/** The version that most people use. */
export const current: VsCodeVersion = {
  name: 'current',
  version: '1.139.1',
  toolsDirectory: join(tools, 'current'),
  nativeModules: ['@vscode/spdlog', '@vscode/native-watchdog'],
}

/** The oldest version that `engines.vscode` allows. */
export const floor: VsCodeVersion = {
  name: 'floor',
  version: '1.103.2',
  toolsDirectory: join(tools, 'floor'),
  nativeModules: ['@vscode/spdlog', 'native-watchdog', 'node-pty'],
}
