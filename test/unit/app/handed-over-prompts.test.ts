import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HandedOverPrompts } from '../../../src/app/storage/handed-over-prompts.ts'
import { Emitter } from '../../../src/common/event.ts'
import { silentLogger } from '../../../src/common/logger.ts'
import type { StoredPrompt } from '../../../src/conversation/attachment.ts'
import type { ContextSources } from '../../../src/editor/mentions/prompt-content.ts'
import { PromptQueues } from '../../../src/sessions/prompt-queues.ts'

describe('prompts left to another window', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'left-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const left = () => new HandedOverPrompts(folder, silentLogger)
  const prompt = (id: string): StoredPrompt => ({
    id,
    draft: { text: `text of ${id}`, chips: [], items: [] },
  })
  function take(): StoredPrompt[] {
    const taken: StoredPrompt[] = []
    left().take('key', prompts => taken.push(...prompts))
    return taken
  }

  it('are taken once, in order', () => {
    assert.equal(left().add('key', [prompt('a')]), true)
    assert.equal(left().add('key', [prompt('b'), prompt('c')]), true)
    assert.deepEqual(
      take().map(({ id, draft }) => [id, draft.text]),
      ['a', 'b', 'c'].map(id => [id, `text of ${id}`]),
    )
    assert.deepEqual(take(), [])
    assert.deepEqual(readdirSync(folder), [])
  })

  it('are deleted with their session', () => {
    left().add('key', [prompt('a')])
    const { event: onDidTakeOver } = new Emitter<string>()
    const storage = { save() {}, holds: () => true, claim: () => [], forget() {}, onDidTakeOver }
    const queues = new PromptQueues({ storage, sources: {} as ContextSources, handover: left() })
    queues.forget('key')
    queues.dispose()
    assert.deepEqual(take(), [])
  })

  it('stay on disk if they could not be stored', () => {
    left().add('key', [prompt('a')])
    left().take('key', () => {
      throw new Error('The disk is full')
    })
    assert.deepEqual(
      take().map(({ id }) => id),
      ['a'],
    )
  })

  it('are kept in a file of their own if the file is damaged', () => {
    left().add('key', [prompt('a')])
    const [name] = readdirSync(folder)
    const file = join(folder, name!)
    const torn = readFileSync(file, 'utf8').slice(0, -5)
    writeFileSync(file, torn)
    assert.equal(left().add('key', [prompt('b')]), true)
    assert.deepEqual(
      take().map(({ id }) => id),
      ['b'],
    )
    const [aside, ...others] = readdirSync(folder)
    assert.deepEqual(others, [])
    assert.equal(readFileSync(join(folder, aside!), 'utf8'), torn)

    writeFileSync(file, torn)
    assert.deepEqual(take(), [])
    assert.equal(readdirSync(folder).length, 2)
  })

  it('stay where they are if the file could not be read for now', () => {
    left().add('key', [prompt('a')])
    const [name] = readdirSync(folder)
    const file = join(folder, name!)
    // a folder, which can't be read either
    renameSync(file, `${file}.busy`)
    mkdirSync(file)
    assert.equal(left().add('key', [prompt('b')]), false)
    assert.deepEqual(take(), [])
    assert.deepEqual(readdirSync(folder).sort(), [name, `${name}.busy`])
    rmSync(file, { recursive: true })
    renameSync(`${file}.busy`, file)
    assert.deepEqual(
      take().map(({ id }) => id),
      ['a'],
    )
  })
})
