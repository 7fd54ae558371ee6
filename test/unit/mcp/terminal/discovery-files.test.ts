import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { silentLogger } from '../../../../src/common/logger.ts'
import {
  DiscoveryFile,
  removeStaleFiles,
  sharedFolder,
} from '../../../../src/mcp/terminal/discovery-files.ts'

/** No process has it: they're smaller on every system. */
const DEAD = 2 ** 30

describe('the files in which terminal agents look for editors', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-discovery-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const write = (name: string, content: unknown) =>
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  const stale = (name: string) => {
    removeStaleFiles(folder, /^\d+\.lock$/, silentLogger)
    return !existsSync(join(folder, name))
  }
  const owner = { name: 'parley', pid: DEAD, host: hostname() }

  it('are whole whenever an agent reads them', async () => {
    const reader = new Worker(
      `const { parentPort, workerData } = require('node:worker_threads')
      const { readdirSync, readFileSync } = require('node:fs')
      parentPort.postMessage('ready')
      for (let torn = 0, read = 0, ended = false; !ended; ) {
        for (const name of readdirSync(workerData).filter(name => /\\.(lock|end)$/.test(name))) {
          if (name.endsWith('.end')) {
            parentPort.postMessage({ torn, read })
            ended = true
            break
          }
          try {
            const text = readFileSync(workerData + '/' + name, 'utf8')
            read++
            JSON.parse(text)
          } catch (error) {
            if (error instanceof SyntaxError) torn++
          }
        }
      }`,
      { eval: true, workerData: folder },
    )
    await once(reader, 'message')
    for (let port = 0; port < 1000; port++)
      new DiscoveryFile(folder, `${port}.lock`, { authToken: 'secret' }).remove()
    const found = once(reader, 'message')
    write('all.end', '')
    const [{ torn, read }] = (await found) as [{ torn: number; read: number }]
    assert.ok(read > 0, 'it found files')
    assert.equal(torn, 0)
  })

  it('can be read by the user alone, and say whose they are', () => {
    const file = new DiscoveryFile(folder, '1.lock', { authToken: 'secret' })
    assert.deepEqual(JSON.parse(readFileSync(join(folder, '1.lock'), 'utf8')), {
      authToken: 'secret',
      owner: { ...owner, pid: process.pid },
    })
    file.update({ authToken: 'secret', more: 1 })
    if (process.platform !== 'win32') assert.equal(statSync(join(folder, '1.lock')).mode & 0o777, 0o600)
    assert.equal(JSON.parse(readFileSync(join(folder, '1.lock'), 'utf8')).more, 1)
    file.remove()
    assert.ok(!existsSync(join(folder, '1.lock')))
    file.remove()
  })

  it('never replace, change or remove the file of another program', () => {
    write('1.lock', { authToken: 'theirs' })
    assert.throws(() => new DiscoveryFile(folder, '1.lock', { authToken: 'ours' }), /EEXIST/)
    const file = new DiscoveryFile(folder, '2.lock', { authToken: 'ours' })
    write('2.lock', { authToken: 'theirs' })
    file.update({ authToken: 'ours' })
    file.remove()
    assert.deepEqual(JSON.parse(readFileSync(join(folder, '2.lock'), 'utf8')), { authToken: 'theirs' })
  })

  it('are removed after a crash, if they are ours', () => {
    write('1.lock', { authToken: 'x', owner })
    assert.ok(stale('1.lock'))
  })

  it('stay if they belong to another program, another machine, or a window that runs', () => {
    const others: Record<string, unknown> = {
      '1.lock': { pid: DEAD, authToken: 'x' },
      '2.lock': { owner: { ...owner, name: 'other' } },
      '3.lock': { owner: { ...owner, host: `${hostname()}-2` } },
      '4.lock': { owner: { ...owner, pid: process.pid } },
      '5.lock': { owner: { ...owner, pid: 'x' } },
      '6.lock': 'no JSON',
      '7.lock': '[]',
      '8.lock.old': { owner },
      'x.lock': { owner },
    }
    for (const [name, content] of Object.entries(others)) write(name, content)
    for (const name of Object.keys(others)) assert.ok(!stale(name), name)
  })

  it('are looked for in folders of the user alone', function () {
    if (process.platform === 'win32') this.skip()
    const own = sharedFolder(folder, 'gemini', 'ide')
    assert.equal(statSync(own).mode & 0o777, 0o700)
    assert.equal(sharedFolder(folder, 'gemini', 'ide'), own)
    mkdirSync(join(folder, 'elsewhere'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'link'))
    assert.throws(() => sharedFolder(folder, 'link', 'ide'), /another user/)
    assert.ok(!existsSync(join(folder, 'elsewhere', 'ide')))
  })

  it('in a folder that does not exist are no failure', () => {
    removeStaleFiles(join(folder, 'missing'), /x/, silentLogger)
  })
})
