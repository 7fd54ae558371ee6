import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, sep } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'

const biome = join(projectDirectory, 'node_modules/@biomejs/biome/bin/biome')

/** Imports that the architecture forbids: the importing file and the imported module. */
const forbidden: Array<[file: string, imported: string]> = [
  ['src/common/logger.ts', '../acp/model.ts'],
  ['src/common/logger.ts', 'vscode'],
  ['src/acp/connection.ts', 'vscode'],
  ['src/acp/connection.ts', '../conversation/state.ts'],
  ['src/acp/v1/agent-v1.ts', '../../sessions/session.ts'],
  ['src/conversation/reducer.ts', 'vscode'],
  ['src/conversation/reducer.ts', '../history/store.ts'],
  ['src/conversation/reducer.ts', '../acp/v1/agent-v1.ts'],
  ['src/conversation/reducer.ts', '../acp/transport/process.ts'],
  ['src/history/store.ts', 'vscode'],
  ['src/history/store.ts', '../agents/presets.ts'],
  ['src/agents/presets.ts', '../sessions/session.ts'],
  ['src/agents/presets.ts', '../acp/v1/agent-v1.ts'],
  ['src/agents/presets.ts', 'vscode'],
  ['src/agents/presets.ts', '../acp/transport/process.ts'],
  ['src/agents/presets.ts', '../mcp/servers.ts'],
  ['src/mcp/servers.ts', '../app/ids.ts'],
  ['src/mcp/servers.ts', 'vscode'],
  ['src/editor/files/files.ts', '../../app/ids.ts'],
  ['src/editor/files/files.ts', '../../changes/change-tracker.ts'],
  ['src/editor/files/files.ts', 'vscode'],
  ['src/changes/change-tracker.ts', 'vscode'],
  ['src/changes/change-tracker.ts', '../sessions/session.ts'],
  ['src/sessions/session.ts', 'vscode'],
  ['src/sessions/session.ts', '../app/ids.ts'],
  ['src/sessions/session.ts', '../bridge/history.ts'],
  ['src/sessions/session.ts', '../acp/transport/process.ts'],
  ['src/app/ids.ts', 'vscode'],
  ['src/services.ts', 'vscode'],
  ['src/app/ids.ts', '../webview/host/page.ts'],
  ['src/app/ids.ts', '../acp/v2/agent-v2.ts'],
  ['src/app/ids.ts', '../workbench/status-bar.ts'],
  ['src/bridge/conversation.ts', 'vscode'],
  ['src/bridge/conversation.ts', '../app/ids.ts'],
  ['src/workbench/status-item.ts', '../webview/host/page.ts'],
  ['src/webview/conversation/main.ts', 'vscode'],
  ['src/webview/conversation/main.ts', 'node:fs'],
  ['src/webview/conversation/main.ts', '../../sessions/session.ts'],
  ['src/webview/ui/button.tsx', '../conversation/context.ts'],
  ['src/webview/tools/title.ts', '../history/row.tsx'],
  ['src/demo-agent/main.ts', '../common/logger.ts'],
  ['src/demo-agent/main.ts', 'vscode'],
  ['src/agent-host/host.ts', '../acp/connection.ts'],
  ['src/agent-host/host.ts', '../acp/v1/agent-v1.ts'],
  ['src/agent-host/host.ts', '../sessions/session.ts'],
  ['src/agent-host/host.ts', 'vscode'],
  ['src/acp/connection.ts', '../agent-host/host.ts'],
  ['src/workbench/status-item.ts', '../agent-host/host.ts'],
  ['src/workbench/status-item.ts', '../app/app-services.ts'],
  ['src/workbench/status-item.ts', '../sessions/session-manager.ts'],
  ['src/workbench/changes/source-control.ts', '../../changes/change-tracker.ts'],
  ['src/workbench/changes/source-control.ts', '../../changes/model/file-log.ts'],
]

/** Imports that the architecture allows, to prove that the rules don't forbid everything. */
const permitted: Array<[file: string, imported: string]> = [
  ['src/acp/connection.ts', '../common/logger.ts'],
  ['src/acp/connection.ts', './v1/agent-v1.ts'],
  ['src/conversation/reducer.ts', '../acp/model.ts'],
  ['src/history/store.ts', '../conversation/state.ts'],
  ['src/sessions/session.ts', '../agents/presets.ts'],
  ['src/mcp/servers.ts', '../agents/presets.ts'],
  ['src/changes/change-tracker.ts', '../editor/files/files.ts'],
  ['src/app/ids.ts', '../sessions/session.ts'],
  ['src/app/ids.ts', '../bridge/history.ts'],
  ['src/workbench/status-item.ts', 'vscode'],
  ['src/workbench/status-item.ts', '../app/ids.ts'],
  ['src/workbench/changes/source-control.ts', '../../changes/review/changed-file.ts'],
  ['src/webview/conversation/main.ts', '../../bridge/conversation.ts'],
  ['src/webview/tools/title.ts', '../../conversation/state.ts'],
  ['src/demo-agent/main.ts', './session.ts'],
  ['src/agent-host/host.ts', '../acp/transport/agent-process.ts'],
  ['src/agent-host/host.ts', '../common/limits.ts'],
]

/** The parts of the linter's report that are used. */
interface Diagnostic {
  category: string
  location: { path: string }
}

describe('the import rules', () => {
  const cases = [...forbidden, ...permitted]
  let found: Diagnostic[]

  /**
   * The path of the file for a case: next to the file that it names, since several cases can name the same one.
   */
  const placeOf = (at: number) => cases[at]![0].replace(/\.ts$/, `-${at}.ts`)

  // in one run, since the linter takes longer to start than to check
  before(() => {
    const directory = mkdtempSync(join(tmpdir(), 'parley-rules-'))
    try {
      cpSync(join(projectDirectory, 'biome.json'), join(directory, 'biome.json'))
      for (const [at, [, imported]] of cases.entries()) {
        const path = join(directory, placeOf(at))
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, `import { thing } from '${imported}'\n\nthing()\n`)
      }
      const args = [biome, 'lint', '--vcs-enabled=false', '--max-diagnostics=none', '--reporter=json', 'src']
      const { stdout } = spawnSync(process.execPath, args, { cwd: directory, encoding: 'utf8' })
      found = (JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics
    } finally {
      rmSync(directory, { recursive: true, force: true })
    }
  })

  /** The linter's import errors in a case's file. */
  const errors = (at: number) =>
    found.filter(
      ({ category, location }) =>
        category === 'lint/style/noRestrictedImports' && location.path.endsWith(placeOf(at)),
    )

  for (const [at, [file, imported]] of cases.entries())
    it(`${at < forbidden.length ? 'forbid' : 'permit'} ${imported} in ${file}`, () => {
      assert.equal(errors(at).length, at < forbidden.length ? 1 : 0)
    })
})

/** The folders that import each other: `parent: one, other`, with a file of each. */
function mutualImports(files: ReadonlyMap<string, string>): string[] {
  /** for each pair of folders next to each other, an import from the first to the second */
  const imports = new Map<string, string>()
  for (const [file, text] of files) {
    for (const [, imported = ''] of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
      const target = posix.join(posix.dirname(file), imported)
      const [from, to] = [posix.dirname(file).split('/'), posix.dirname(target).split('/')]
      const at = from.findIndex((name, i) => name !== to[i])
      if (at === -1 || at >= to.length) continue
      imports.set(`${from.slice(0, at).join('/')}: ${from[at]}, ${to[at]}`, `${file} imports ${target}`)
    }
  }
  return [...imports].flatMap(([pair, example]) => {
    const [parent, one, other] = pair.split(/: |, /) as [string, string, string]
    const back = imports.get(`${parent}: ${other}, ${one}`)
    return one < other && back !== undefined ? [`${pair}: ${example}, and ${back}`] : []
  })
}

describe('folders', () => {
  it("don't import each other, at any depth", () => {
    const paths = readdirSync(join(projectDirectory, 'src'), { recursive: true, encoding: 'utf8' })
    const sources = paths.filter(path => /\.tsx?$/.test(path))
    const files = new Map(
      sources.map(path => [
        posix.join('src', ...path.split(sep)),
        readFileSync(join(projectDirectory, 'src', path), 'utf8'),
      ]),
    )
    assert.deepEqual(mutualImports(files), [])
    const back = "import type { Turn } from '../sessions/open-session.ts'\n"
    files.set('src/agents/imports-back.ts', back)
    assert.equal(mutualImports(files).length, 1)
  })
})
