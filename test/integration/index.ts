// The entry point that VS Code calls in its extension host (`extensionTestsPath`): runs the compiled tests.
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as vscode from 'vscode'
import { waitFor } from '../host/wait-for.ts'
import { touchWorkspaceFile } from '../host/workspace-file.ts'
import { grepVariable, resultsVariable, type TestResult } from './results.ts'

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
  // one that passes only when it's tried again is reported
  const mocha = new Mocha({
    timeout: 180_000,
    retries: 1,
    color: false,
    grep: process.env[grepVariable] ?? '',
  })
  const suite = join(__dirname, '..')
  for (const file of readdirSync(suite, { recursive: true, encoding: 'utf8' }).sort())
    if (file.endsWith('.test.cjs')) mocha.addFile(join(suite, file))

  const results: TestResult[] = []
  const write = () => writeFileSync(process.env[resultsVariable]!, JSON.stringify(results))
  const failures = await new Promise<number>(resolve => {
    const runner = mocha.run(resolve)
    const retried = new Map<string, string>()
    runner.on('retry', (test: Mocha.Test, error: Error) => {
      retried.set(test.fullTitle(), error.stack ?? error.message)
    })
    runner.on('test end', test => {
      results.push(describeTest(test, retried.get(test.fullTitle())))
      write()
    })
    // A failed hook skips the tests of its suite, which would otherwise go unnoticed.
    runner.on('fail', (failed: Mocha.Runnable, error) => {
      if (failed instanceof Mocha.Test) return
      results.push({ title: failed.fullTitle(), state: 'failed', milliseconds: 0, error: error.stack })
      write()
    })
  })
  if (failures > 0) throw new Error(`${failures} tests failed`)
}

function describeTest(test: Mocha.Test, firstError: string | undefined): TestResult {
  const state = test.state === 'passed' || test.state === 'failed' ? test.state : 'skipped'
  return {
    title: test.fullTitle(),
    state,
    milliseconds: test.duration ?? 0,
    ...(state === 'failed' && test.err && { error: test.err.stack ?? test.err.message }),
    ...(firstError !== undefined && { retriedAfter: firstError }),
  }
}
