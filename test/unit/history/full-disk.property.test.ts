/** The stores on a disk that is full at times: a limit of the system for the size of files, so that writes stop midway. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import type { Entry } from '../../../src/conversation/state.ts'
import { ConversationStorage } from '../../../src/history/conversation-storage.ts'
import { ChangesOnDisk } from '../../support/changes-on-disk.ts'
import { scaledRuns } from '../../support/property-tests.ts'
import type { Command } from './full-disk-writer.ts'

const PRLIMIT = '/usr/bin/prlimit'
const NAMES = ['/w/a', '/w/b', '/w/c']
/** bytes */
const MAX_TEXT = 6000

const step = fc.oneof(
  { arbitrary: fc.record({ what: fc.constant('limit' as const), bytes: fc.nat(2 * MAX_TEXT) }), weight: 2 },
  { arbitrary: fc.record({ what: fc.constant('unlimited' as const) }), weight: 1 },
  {
    arbitrary: fc.record({
      what: fc.constantFrom('save', 'saveUndone', 'addUndone', 'addUndone'),
      at: fc.nat(NAMES.length - 1),
      size: fc.nat(MAX_TEXT),
    }),
    weight: 8,
  },
)

type File = Parameters<ChangesOnDisk['addUndone']>[1][number]

function changed(path: string, text: string): File['before'] {
  return {
    path,
    text,
    segments: [1],
    attributes: [{ value: { type: 'text', encoding: 'utf8', bom: false, mode: 0o644 }, by: 'user', seq: 0 }],
  }
}

const sqlite = process.getBuiltinModule?.('node:sqlite')

describe('what is stored on a full disk (property)', () => {
  const test = process.platform === 'linux' && existsSync(PRLIMIT) ? it : it.skip
  const withSqlite = sqlite ? test : it.skip
  let child: ChildProcess | undefined
  const limit = (bytes: number | 'unlimited') =>
    execFileSync(PRLIMIT, ['--pid', `${child!.pid}`, `--fsize=${bytes}:unlimited`])
  /** Resolves to why it failed, if it did. */
  const send = async (command: Command): Promise<string | undefined> => {
    const answered = once(child!, 'message')
    child!.send(command)
    const [answer] = await answered
    return answer === 'done' ? undefined : answer
  }
  afterEach(() => child?.kill('SIGKILL'))

  const start = async () => {
    child = fork(fileURLToPath(new URL('./full-disk-writer.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx'],
    })
    await once(child, 'message')
  }

  withSqlite(
    'are the changes of agents before or after each write, and all of them once there is space again',
    async () => {
      await start()
      let failures = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async steps => {
          const folder = mkdtempSync(join(tmpdir(), 'parley-full-disk-'))
          try {
            await send({ do: 'open', folder })
            const saved = new Map<string, string>()
            /** by id: the files that are stored, and those that may be */
            const undone = new Map<string, { files: File[]; maybe: File[] }>()
            let count = 0
            for (const one of steps) {
              if (one.what === 'limit') limit(one.bytes)
              else if (one.what === 'unlimited') limit('unlimited')
              else {
                const path = NAMES[one.at]!
                const text = `${count++} ${'x'.repeat(one.size)}\n`
                if (one.what === 'save') {
                  saved.set(path, text)
                  await send({ do: 'save', args: [path, changed(path, text)] })
                  continue
                }
                const id = `u${one.at}`
                const head = { id, at: Date.now() }
                const file = { before: changed(path, text), after: changed(path, `after ${text}`) }
                const known = undone.get(id) ?? { files: [], maybe: [] }
                undone.set(id, known)
                const problem = await send(
                  one.what === 'addUndone'
                    ? { do: 'addUndone', args: [head, [file]] }
                    : { do: 'saveUndone', args: [{ ...head, files: [file] }] },
                )
                if (problem !== undefined) {
                  failures += 1
                  // all but the end of its line may be there
                  if (one.what === 'addUndone') known.maybe.push(file)
                } else if (one.what === 'addUndone') known.files.push(file)
                else undone.set(id, { files: [file], maybe: known.maybe })
              }
              await check(folder, undone)
            }
            limit('unlimited')
            await send({ do: 'close' })
            await check(folder, undone)
            const next = new ChangesOnDisk(folder)
            const loaded = await next.load()
            next.dispose()
            assert.deepEqual(new Map(loaded.map(({ path, text }) => [path, text] as const)), saved)
          } finally {
            limit('unlimited')
            rmSync(folder, { recursive: true, force: true })
          }
        }),
        { numRuns: scaledRuns(20) },
      )
      assert.ok(failures > 10, `${failures} failures`)
    },
  )

  withSqlite('are conversations with all that was written, and whole once there is space again', async () => {
    await start()
    let failures = 0
    const write = fc.record({ what: fc.constant('write' as const), size: fc.nat(20_000) })
    const steps = fc.array(
      fc.oneof(
        { arbitrary: write, weight: 3 },
        fc.record({ what: fc.constant('limit' as const), bytes: fc.nat(400_000) }),
        fc.record({ what: fc.constant('unlimited' as const) }),
      ),
      { minLength: 5, maxLength: 25 },
    )
    await fc.assert(
      fc.asyncProperty(steps, async steps => {
        const folder = mkdtempSync(join(tmpdir(), 'parley-full-disk-'))
        const file = join(folder, 'conversations.db')
        const entries: Entry[] = []
        let written = 0
        const store = async () => {
          const problem =
            (written < entries.length - 1 || (await send({ do: 'write', entries, replace: false }))) &&
            (await send({ do: 'write', entries, replace: true }))
          if (problem) failures += 1
          else written = entries.length
        }
        const idsOnDisk = () => {
          const other = new ConversationStorage({ file })
          const found = other.transcripts.read('a', 's')?.entries ?? []
          other.dispose()
          return found.flatMap(entry => (entry.kind === 'message' ? textOf(entry) : []))
        }
        try {
          await send({ do: 'openConversations', file })
          for (const one of steps) {
            if (one.what === 'limit') limit(one.bytes)
            else if (one.what === 'unlimited') limit('unlimited')
            else {
              const turn = entries.length + 1
              const text = `answer ${turn} ${'x'.repeat(one.size)}`
              const blocks = [{ type: 'text' as const, text }]
              entries.push({
                kind: 'message',
                id: `e${turn}`,
                turn,
                role: turn % 2 ? 'user' : 'agent',
                blocks,
              })
              await store()
              const texts = entries.slice(0, written).map(textOf)
              if (written > 0) assert.deepEqual(idsOnDisk().slice(0, written), texts)
            }
          }
          limit('unlimited')
          if (written < entries.length) await store()
          await send({ do: 'close' })
          assert.deepEqual(idsOnDisk(), entries.map(textOf))
        } finally {
          limit('unlimited')
          await send({ do: 'close' })
          rmSync(folder, { recursive: true, force: true })
        }
      }),
      { numRuns: scaledRuns(10) },
    )
    assert.ok(failures > 0, `${failures} failures`)
  })

  withSqlite('are deleted or whole, as was told, after the window was killed', async function () {
    this.timeout(120_000)
    const entries = Array.from(
      { length: 30 },
      (_, i): Entry => ({
        ...{ kind: 'message', id: `e${i}`, turn: 1, role: 'agent' },
        blocks: [{ type: 'text', text: `text ${i} ${'x'.repeat(5000)}` }],
      }),
    )
    const told = { deleted: 0, kept: 0 }
    // the most bytes of a file; `undefined`: killed before it could tell anything
    for (const bytes of [0, 250_000, 'unlimited', undefined] as const) {
      const folder = mkdtempSync(join(tmpdir(), 'parley-full-disk-'))
      const file = join(folder, 'conversations.db')
      try {
        await start()
        await send({ do: 'openConversations', file })
        assert.equal(await send({ do: 'write', entries, replace: true }), undefined)
        if (bytes !== undefined) limit(bytes)
        const answer = send({ do: 'forget' })
        const problem = bytes === undefined ? 'unknown' : await answer
        const ended = once(child!, 'exit')
        child!.kill('SIGKILL')
        await ended
        const storage = new ConversationStorage({ file })
        const left = storage.transcripts.read('a', 's')
        storage.dispose()
        if (problem === undefined) assert.equal(left, undefined, `${bytes}`)
        else if (problem !== 'unknown' || left) assert.deepEqual(left?.entries, entries, `${bytes}`)
        if (problem === undefined) told.deleted += 1
        else if (problem !== 'unknown') told.kept += 1
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }
    assert.ok(told.deleted > 0 && told.kept > 0, JSON.stringify(told))
  })
})

function textOf(entry: Entry): string {
  const [block] = entry.kind === 'message' ? entry.blocks : []
  return block?.type === 'text' ? block.text.replace(/x+$/, '') : ''
}

async function check(folder: string, expected: ReadonlyMap<string, { files: File[]; maybe: File[] }>) {
  const found = new Map((await new ChangesOnDisk(folder).loadUndone()).map(({ id, files }) => [id, files]))
  const textsOf = (files: readonly File[] = []) => files.map(({ before, after }) => [before.text, after.text])
  for (const [id, { files, maybe }] of expected) {
    const optional = new Set(textsOf(maybe).map(String))
    const sure = textsOf(files)
    const isSure = (texts: string[]) => sure.some(one => `${one}` === `${texts}`)
    const all = textsOf(found.get(id))
    assert.deepEqual(all.filter(isSure), sure, id)
    for (const texts of all) assert.ok(isSure(texts) || optional.has(`${texts}`), id)
  }
}
