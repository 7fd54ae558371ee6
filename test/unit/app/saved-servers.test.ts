import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeServer, saveServer } from '../../../src/app/mcp/saved-servers.ts'
import { SmallDisk } from '../../support/small-disk.ts'

describe('the MCP servers of a folder', () => {
  let root = ''
  /** runs while the user is asked */
  let meanwhile = () => {}
  const file = () => join(root, '.vscode/mcp.json')
  const text = () => readFileSync(file(), 'utf8')
  const before =
    '{\n  // mine\n  "servers": {\n    "clock": { "command": "clock" },\n    "tide": { "command": "tide" }\n  }\n}\n'
  const options = {
    workbench: {
      dialogs: {
        confirm: async (_text: string, _options: object, button: string) => {
          meanwhile()
          return button
        },
      },
    },
    settings: { layers: () => [] },
    mcp: { agree: async () => {} },
  } as unknown as Parameters<typeof saveServer>[0]
  const save = () => saveServer(options, root, { name: 'sun', server: { command: 'sun' } })
  const remove = (name: string) =>
    removeServer(options, { kind: 'vscodeFolder', label: 'mcp.json', scope: 'folder', file: file() }, name)

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'parley-servers-')))
    meanwhile = () => {}
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('are saved and removed, and everything else in the file stays', async () => {
    mkdirSync(join(root, '.vscode'))
    writeFileSync(file(), before)
    await save()
    assert.match(text(), /"sun"/)
    await remove('sun')
    await remove('clock')
    assert.match(text(), /\/\/ mine/)
    assert.match(text(), /"tide": \{\s+"command": "tide"\s+\}/)
    assert.doesNotMatch(text(), /sun|clock/)
  })

  it('are saved in a new file, also if the folder is a link', async () => {
    const link = join(root, 'link')
    mkdirSync(join(root, 'real'))
    symlinkSync(join(root, 'real'), link)
    await saveServer(options, link, { name: 'sun', server: { command: 'sun' } })
    assert.match(readFileSync(join(root, 'real/.vscode/mcp.json'), 'utf8'), /"sun"/)
    assert.deepEqual(readdirSync(join(root, 'real/.vscode')), ['mcp.json'])
  })

  it('are removed from what another program writes while the user is asked', async () => {
    mkdirSync(join(root, '.vscode'))
    writeFileSync(file(), before)
    meanwhile = () => writeFileSync(file(), before.replace('tide', 'moon'))
    await remove('clock')
    assert.match(text(), /"moon"/)
    assert.doesNotMatch(text(), /clock/)
  })

  it('stay as they are on a full disk', async function () {
    const disk = SmallDisk.create(1)
    if (!disk) this.skip()
    try {
      root = disk.folder
      mkdirSync(join(root, '.vscode'))
      writeFileSync(file(), before)
      disk.fill()
      await assert.rejects(remove('clock'), { code: 'ENOSPC' })
      await assert.rejects(save(), { code: 'ENOSPC' })
      assert.equal(text(), before)
      assert.deepEqual(readdirSync(join(root, '.vscode')), ['mcp.json'])
    } finally {
      disk.dispose()
    }
  })
})
