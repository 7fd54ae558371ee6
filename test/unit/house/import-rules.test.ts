import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'

const biome = join(projectDirectory, 'node_modules/@biomejs/biome/bin/biome')

/** Imports that the architecture forbids: the importing file and what it asks for. */
const forbidden: Array<[file: string, imported: string]> = [
  ['src/common/logger.ts', '../acp/model.ts'],
  ['src/common/logger.ts', 'vscode'],
  ['src/acp/connection.ts', 'vscode'],
  ['src/acp/connection.ts', '../conversation/state.ts'],
  ['src/acp/v1/surface.ts', '../../sessions/session.ts'],
  ['src/conversation/reducer.ts', 'vscode'],
  ['src/conversation/reducer.ts', '../history/store.ts'],
  ['src/conversation/reducer.ts', '../acp/v1/surface.ts'],
  ['src/conversation/reducer.ts', '../acp/transport/process.ts'],
  ['src/history/store.ts', 'vscode'],
  ['src/history/store.ts', '../agents/presets.ts'],
  ['src/agents/presets.ts', '../sessions/session.ts'],
  ['src/agents/presets.ts', '../acp/v1/surface.ts'],
  ['src/mcp/servers.ts', '../views/ids.ts'],
  ['src/editor/files.ts', '../views/ids.ts'],
  ['src/sessions/session.ts', 'vscode'],
  ['src/sessions/session.ts', '../views/ids.ts'],
  ['src/sessions/session.ts', '../acp/transport/process.ts'],
  ['src/views/ids.ts', '../webview/host/page.ts'],
  ['src/views/ids.ts', '../acp/v2/surface.ts'],
  ['src/views/bridge/conversation.ts', 'vscode'],
  ['src/webview/conversation/main.ts', 'vscode'],
  ['src/webview/conversation/main.ts', 'node:fs'],
  ['src/webview/conversation/main.ts', '../../sessions/session.ts'],
  ['src/demo-agent/main.ts', '../common/logger.ts'],
  ['src/demo-agent/main.ts', 'vscode'],
]

/** Imports that it allows, so that the rules are known not to forbid everything. */
const permitted: Array<[file: string, imported: string]> = [
  ['src/acp/connection.ts', '../common/logger.ts'],
  ['src/acp/connection.ts', './v1/surface.ts'],
  ['src/conversation/reducer.ts', '../acp/model.ts'],
  ['src/history/store.ts', '../conversation/state.ts'],
  ['src/sessions/session.ts', '../agents/presets.ts'],
  ['src/views/ids.ts', '../sessions/session.ts'],
  ['src/views/ids.ts', 'vscode'],
  ['src/editor/files.ts', 'vscode'],
  ['src/webview/conversation/main.ts', '../../views/bridge/conversation.ts'],
  ['src/demo-agent/main.ts', './session.ts'],
]

interface Diagnostic {
  category: string
}

describe('the import rules', () => {
  let directory: string
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'parley-rules-'))
    cpSync(join(projectDirectory, 'biome.json'), join(directory, 'biome.json'))
  })
  after(() => rmSync(directory, { recursive: true, force: true }))

  /** The import errors that the linter finds in a file with this one import. */
  function errors(file: string, imported: string): Diagnostic[] {
    const path = join(directory, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `import { thing } from '${imported}'\n\nthing()\n`)
    const args = [biome, 'lint', '--vcs-enabled=false', '--reporter=json', path]
    const { stdout } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' })
    rmSync(path)
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] }
    return diagnostics.filter(({ category }) => category === 'lint/style/noRestrictedImports')
  }

  for (const [file, imported] of forbidden)
    it(`forbid ${imported} in ${file}`, () => {
      assert.equal(errors(file, imported).length, 1)
    })
  for (const [file, imported] of permitted)
    it(`permit ${imported} in ${file}`, () => {
      assert.deepEqual(errors(file, imported), [])
    })
})
