// The entry point that VS Code calls in its extension host (`extensionTestsPath`): runs the compiled tests.
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import * as vscode from 'vscode'
import { waitFor } from '../host/wait-for.ts'
import { touchWorkspaceFile } from '../host/workspace-file.ts'
import { eventsVariable, recordEvents } from '../run/test-events.ts'
import { type IntegrationOptions, optionsVariable } from './options.ts'

/** Resolves when the folders of the workspace are loaded. */
async function foldersOpen(): Promise<void> {
  const { workspaceFile } = vscode.workspace
  await waitFor(
    'folders of the workspace',
    () => {
      if (vscode.workspace.workspaceFolders?.length) return true
      if (workspaceFile) touchWorkspaceFile(workspaceFile.fsPath)
      return false
    },
    { interval: 500 },
  )
}

/** Rejects if a test failed, which VS Code turns into its exit code. */
export async function run(): Promise<void> {
  await foldersOpen()
  // works in every Node, unlike `require` of an ES module
  const { default: Mocha } = await import('mocha')
  const { grep, retries, files }: IntegrationOptions = JSON.parse(process.env[optionsVariable]!)
  const mocha = new Mocha({ timeout: 180_000, retries, color: false, grep })
  const suite = join(__dirname, '..')
  const sourceOf = (file: string) =>
    `test/${relative(suite, file).replaceAll('\\', '/')}`.replace(/\.cjs$/, '.ts')
  for (const file of readdirSync(suite, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(suite, file)
    if (!file.endsWith('.test.cjs')) continue
    if (files.length === 0 || files.includes(sourceOf(path))) mocha.addFile(path)
  }
  const failures = await new Promise<number>(resolve => {
    recordEvents(mocha.run(resolve), process.env[eventsVariable]!, sourceOf)
  })
  if (failures > 0) throw new Error(`${failures} tests failed`)
}
