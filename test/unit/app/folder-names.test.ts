import assert from 'node:assert/strict'
import type * as Settings from '../../../src/workbench/settings.ts'
import { loadWithFakeVsCode } from './load-in-workbench.ts'

describe('workspace folders with the same name', () => {
  const folder = (fsPath: string, name: string) => ({
    name,
    uri: { scheme: 'file', fsPath, toString: () => `file://${fsPath}` },
  })
  const nothing = () => ({ dispose() {} })
  const workspace = {
    workspaceFolders: [folder('/a/api', 'api'), folder('/b/api', 'api'), folder('/web', 'web')],
    getConfiguration: (_: string, uri: { fsPath: string } | null) => ({
      inspect: () => ({ workspaceFolderValue: uri?.fsPath }),
    }),
    onDidChangeConfiguration: nothing,
    onDidChangeWorkspaceFolders: nothing,
    onDidGrantWorkspaceTrust: nothing,
  }

  it('are told apart by their paths, as the places of settings, too', async () => {
    const settings = await loadWithFakeVsCode<typeof Settings>('workbench/settings.ts', { workspace })
    assert.deepEqual(settings.localFolders(), [
      { name: 'api (/a/api)', path: '/a/api' },
      { name: 'api (/b/api)', path: '/b/api' },
      { name: 'web', path: '/web' },
    ])
    const layers = settings.settingLayers().mcpServers
    assert.deepEqual(
      layers.filter(({ scope }) => scope === 'folder').map(({ folder: name, value }) => [name, value]),
      [
        ['web', '/web'],
        ['api (/b/api)', '/b/api'],
        ['api (/a/api)', '/a/api'],
      ],
    )
  })
})
