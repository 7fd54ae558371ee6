import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { previewFiles, privateFolders, storeFolders, viewStore } from '../../../src/app/storage/stores.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import { protectFolders } from '../../../src/common/private-files.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { LocalSessions } from '../../../src/history/local-sessions.ts'

describe('what Parley stores', () => {
  let directory: string
  let umask: number
  beforeEach(function () {
    if (process.platform === 'win32') this.skip()
    umask = process.umask(0o002)
    directory = mkdtempSync(path.join(tmpdir(), 'parley-private-'))
    chmodSync(directory, 0o755)
  })
  afterEach(() => {
    if (!directory) return
    process.umask(umask)
    rmSync(directory, { recursive: true, force: true })
  })

  const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8)

  /** Files and folders below, as their path and mode, which others can read or write. */
  function readable(folder: string): string[] {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap(name => {
      const stats = statSync(path.join(folder, name))
      return (stats.mode & 0o077) === 0 ? [] : [`${name} ${(stats.mode & 0o777).toString(8)}`]
    })
  }

  const storage = () => ({
    workspace: new Map<string, unknown>() as never,
    global: new Map<string, unknown>() as never,
    workspaceFolder: path.join(directory, 'workspace'),
    globalFolder: path.join(directory, 'global'),
  })

  it('can be read by the user only, whatever the mask', () => {
    viewStore(storage(), silentLogger).set('a', 'b')
    previewFiles(storage(), silentLogger).set('a', 'b')
    assert.deepEqual(readable(directory), [])
    assert.equal(readdirSync(directory, { recursive: true }).length, 6)
  })

  it('is protected if an earlier version stored it', async () => {
    const { workspaceFolder, globalFolder } = storage()
    const agent = path.join(globalFolder, 'agents', 'run')
    for (const folder of [...storeFolders(storage()), globalFolder]) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(path.join(folder, 'a.json'), '1')
      writeFileSync(path.join(folder, 'b.json.1'), '1')
    }
    mkdirSync(path.dirname(agent))
    writeFileSync(agent, '')
    chmodSync(agent, 0o755)
    await protectFolders([path.join(directory, 'missing'), ...privateFolders(storage())], silentLogger)
    assert.deepEqual([modeOf(globalFolder), modeOf(workspaceFolder)], ['700', '700'])
    assert.deepEqual(readable(workspaceFolder), [])
    // Programs keep their modes: nobody else gets into the folder above them.
    assert.deepEqual(readable(globalFolder).sort(), ['agents 775', 'agents/run 755'])
  })

  it('is protected if a value replaces an unfinished file', () => {
    const views = viewStore(storage(), silentLogger)
    views.set('a', 'b')
    const folder = path.join(storage().workspaceFolder, 'views')
    const [name] = readdirSync(folder)
    const file = path.join(folder, `${name}.${process.pid}`)
    writeFileSync(file, '1')
    chmodSync(file, 0o644)
    views.set('a', 'c')
    assert.deepEqual(readable(storage().workspaceFolder), [])
  })

  for (const existed of [false, true]) {
    it(`in databases, too, with their logs${existed ? ', if they existed before' : ''}`, function () {
      if (!process.getBuiltinModule('node:sqlite')) this.skip()
      const folder = storage().globalFolder
      const [sessions, conversations] = ['sessions.db', 'conversations.db'].map(name =>
        path.join(folder, name),
      )
      const open = () => {
        const records = new LocalSessions({ file: sessions! })
        const saved = new ConversationStorage({ file: conversations! })
        records.opened('a', { sessionId: 's', cwd: '/w', additionalDirectories: [] })
        saved.transcripts.write('a', 's', { replace: true, entries: [], terminals: [] })
        return { records, saved }
      }
      if (existed) {
        const before = open()
        before.records.dispose()
        before.saved.dispose()
        chmodSync(folder, 0o755)
        for (const name of readdirSync(folder)) chmodSync(path.join(folder, name), 0o644)
      }
      const { records, saved } = open()
      const names = readdirSync(folder)
      assert.ok(names.includes('conversations.db-wal') && names.includes('sessions.db-wal'), names.join())
      assert.deepEqual(readable(directory), [])
      records.dispose()
      saved.dispose()
    })
  }
})
