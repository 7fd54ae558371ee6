import assert from 'node:assert/strict'
import fc from 'fast-check'
import { EditedPrompts } from '../../../src/app/conversation/edited-prompts.ts'
import { DraftStore, editKey } from '../../../src/app/storage/draft-store.ts'
import type { EditedEntry, EditedPromptsShown } from '../../../src/bridge/conversation.ts'
import type { StoredPrompt } from '../../../src/conversation/attachment.ts'
import type { Entry } from '../../../src/conversation/state.ts'
import type { ConversationController } from '../../../src/sessions/conversation-controller.ts'
import { MemoryUnsentTexts, UnsentTable } from '../../support/memory-unsent-texts.ts'

/** A conversation with these prompts, and what the agent says to each. */
function conversation(...prompts: string[]): Entry[] {
  return prompts.flatMap((text, i): Entry[] => [
    { kind: 'message', id: `e${2 * i}`, turn: i, role: 'user', blocks: [{ type: 'text', text }] },
    { kind: 'message', id: `e${2 * i + 1}`, turn: i, role: 'agent', blocks: [{ type: 'text', text }] },
  ])
}

describe('the prompts that are edited where they are', () => {
  let table: UnsentTable
  const returned: Array<{ key: string; prompt: StoredPrompt; reason?: string }> = []
  let session: { phase: string; state: { entries: Entry[] } } | undefined
  let end: { entries: Entry[] } | undefined
  let drafts: DraftStore
  let edited: EditedPrompts
  let displayed: string

  beforeEach(() => {
    table = new UnsentTable()
    returned.length = 0
    session = undefined
    end = undefined
    displayed = 'a'
    drafts = new DraftStore(new MemoryUnsentTexts(table))
    edited = newEdited()
  })
  function newEdited(): EditedPrompts {
    return new EditedPrompts(drafts, {
      get key() {
        return displayed
      },
      opener: {
        get end() {
          return end && { conversation: end }
        },
      },
      get current() {
        return session && { session }
      },
      prompts: {
        giveBack: (key: string, prompt: StoredPrompt, reason?: string) =>
          returned.push({ key, prompt, ...(reason && { reason }) }),
      },
    } as unknown as ConversationController)
  }
  afterEach(() => drafts.dispose())
  /** Returns whether the page has to be told. */
  function store(edit: EditedEntry, text: string): boolean {
    let isTold = false
    const { draftKey, of } = edited.place('a', edit, () => {
      isTold = true
    })
    drafts.setText(draftKey, text, [], { of, from: edit })
    return isTold
  }
  function edit(entries: Entry[], entryId: string, text: string): void {
    session = { phase: 'ready', state: { entries } }
    store({ round: edited.forSnapshot('a')!.round, entryId }, text)
  }
  function shown(key = 'a'): Array<[string, string]> | undefined {
    return edited.forSnapshot(key)?.prompts?.map(({ entryId, draft }) => [entryId, draft.text])
  }

  it('is found by its text after a replay, and by its number among equal ones', () => {
    const before = conversation('one', 'go on', 'go on', 'go on')
    edit(before, 'e4', 'second')
    edit(before, 'e0', 'first')
    session = { phase: 'loading', state: { entries: conversation('earlier') } }
    assert.equal(shown(), undefined)
    assert.equal(edited.isDue, false)
    session = { phase: 'ready', state: { entries: conversation('earlier', ' one\n', 'go on', 'go  on') } }
    assert.equal(edited.isDue, true)
    assert.deepEqual(shown(), [
      ['e6', 'second'],
      ['e2', 'first'],
    ])
    assert.deepEqual(returned, [])
    assert.equal(edited.isDue, false)
    // where they are now is stored
    drafts.dispose()
    drafts = new DraftStore(new MemoryUnsentTexts(table))
    assert.deepEqual(
      drafts.edits('a').map(({ entryId }) => entryId),
      ['e6', 'e2'],
    )
  })

  it('goes to the composer if its prompt is gone', () => {
    const before = conversation('one', 'go on', 'go on')
    edit(before, 'e4', 'kept')
    edit(before, 'e0', 'stays')
    session = { phase: 'ready', state: { entries: conversation('one', 'go on') } }
    assert.deepEqual(shown(), [['e0', 'stays']])
    assert.deepEqual(
      returned.map(({ key, prompt, reason }) => [key, prompt.draft.text, reason]),
      [['a', 'kept', "The prompt that you edited isn't in the conversation anymore."]],
    )
  })

  it('stays with the entry that an earlier version stored, unless that is no prompt', () => {
    drafts.setText(editKey('a', 'e0'), 'one', [])
    drafts.setText(editKey('a', 'e1'), 'of an answer', [])
    session = { phase: 'ready', state: { entries: conversation('one') } }
    assert.deepEqual(shown(), [['e0', 'one']])
    assert.deepEqual(
      returned.map(({ prompt }) => prompt.draft.text),
      ['of an answer'],
    )
  })

  it('goes with its conversation to the next session', () => {
    edit(conversation('one'), 'e0', 'edited')
    drafts.moveEdits('b', 'a')
    drafts.moveEdits('a', 'b')
    session = { phase: 'ready', state: { entries: conversation('earlier', 'one') } }
    assert.deepEqual(shown(), [])
    assert.deepEqual(shown('b'), [['e2', 'edited']])
  })

  it('reaches its prompt, also if the page stored it before it knew that a replay has moved that', () => {
    session = { phase: 'ready', state: { entries: conversation('one', 'two', 'two') } }
    const { round } = edited.forSnapshot('a')!
    session = { phase: 'ready', state: { entries: conversation('earlier', 'one', 'two', 'two') } }
    assert.deepEqual(shown(), [])
    assert.equal(store({ round, entryId: 'e4' }, 'first key'), true)
    assert.deepEqual(shown(), [['e6', 'first key']])
    assert.equal(store({ round, entryId: 'e4' }, 'first keys'), false)
    assert.deepEqual(shown(), [['e6', 'first keys']])
  })

  it('is not confused with one of another conversation with the same prompts, as a fork has', () => {
    session = { phase: 'ready', state: { entries: conversation('one') } }
    const { round } = edited.forSnapshot('a')!
    store({ round, entryId: 'e0' }, 'of a')
    displayed = 'b'
    session = { phase: 'ready', state: { entries: conversation('one', 'two') } }
    const inB = edited.forSnapshot('b')!
    assert.deepEqual(inB.prompts, [])
    assert.notEqual(inB.round, round, 'by which the page knows its edits')
    // the last keys arrive late
    store({ round, entryId: 'e0' }, 'of a, too')
    assert.deepEqual(
      drafts.edits('a').map(({ entryId, draft }) => [entryId, draft.text]),
      [['e0', 'of a, too']],
    )
    assert.deepEqual(shown('b'), [])
  })

  it('is not confused with one that another view has of another conversation', () => {
    session = { phase: 'ready', state: { entries: conversation('one') } }
    const { round } = edited.forSnapshot('a')!
    store({ round, entryId: 'e0' }, 'of a')
    const { round: another } = newEdited().forSnapshot('a')!
    // the stored edit says in which round a view has it
    assert.notEqual(another, round)
  })

  it('reaches its prompt in any order of replays, snapshots and keys', () => {
    const step = fc.oneof(
      fc.record({ type: fc.constant('load' as const), earlier: fc.nat(3), replayed: fc.nat(5) }),
      fc.record({ type: fc.constant('loaded' as const) }),
      fc.record({ type: fc.constant('snapshot' as const) }),
      fc.record({ type: fc.constant('toPage' as const) }),
      fc.record({ type: fc.constant('toHost' as const) }),
      fc.record({ type: fc.constant('type' as const), prompt: fc.nat(5) }),
    )
    const prompts = fc.array(fc.constantFrom('two', 'three'), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(prompts, fc.nat(5), fc.array(step, { maxLength: 40 }), (texts, first, steps) => {
        const run = new Run(texts, first)
        for (const one of steps) run.step(one)
        run.end()
      }),
      { numRuns: 2000 },
    )
  })

  type Step =
    | { type: 'load'; earlier: number; replayed: number }
    | { type: 'loaded' | 'snapshot' | 'toPage' | 'toHost' }
    | { type: 'type'; prompt: number }

  /** A page and its host, whose messages arrive late. A prompt is known by its number, before those that only the agent has. */
  class Run {
    readonly #texts: string[]
    #earlier = 0
    readonly #toPage: Array<() => void> = []
    readonly #toHost: Array<() => void> = []
    /** the page's: the number of each prompt that it shows, and the edits */
    #prompts = new Map<string, number>()
    #round = -1
    #hasEdits = false
    #edits = new Map<string, string>()
    readonly #known = new Map<string, string>()
    /** what was typed last, by prompt */
    readonly #typed = new Map<number, string>()
    #keys = 0

    constructor(texts: string[], first: number) {
      this.#texts = texts
      drafts = new DraftStore(new MemoryUnsentTexts(new UnsentTable()))
      edited = newEdited()
      session = undefined
      returned.length = 0
      end = { entries: this.#entries(0, texts.length).slice(2 * first) }
    }

    #entries(earlier: number, count: number): Entry[] {
      const before = Array.from({ length: earlier }, (_, i) => `earlier ${i}`)
      return conversation(...before, ...this.#texts).slice(0, 2 * count)
    }

    step(step: Step): void {
      if (step.type === 'load') {
        this.#earlier = step.earlier
        session = { phase: 'loading', state: { entries: this.#entries(step.earlier, step.replayed) } }
      } else if (step.type === 'loaded') this.#loaded()
      else if (step.type === 'snapshot') this.#snapshot()
      else if (step.type === 'type') this.#type(step.prompt)
      else (step.type === 'toPage' ? this.#toPage : this.#toHost).shift()?.()
    }

    #loaded(): void {
      const entries = this.#entries(this.#earlier, this.#earlier + this.#texts.length)
      session = { phase: 'ready', state: { entries } }
    }

    #snapshot(): void {
      const edits = edited.forSnapshot('a')!
      const entries = session?.state.entries ?? end?.entries ?? []
      const prompts = entries
        .filter(one => one.kind === 'message' && one.role === 'user')
        .map(({ id }) => [id, Number(id.slice(1)) / 2 - (session ? this.#earlier : 0)] as const)
      this.#toPage.push(() => this.#show(new Map(prompts), edits))
    }

    #show(shown: Map<string, number>, { round, prompts }: EditedPromptsShown): void {
      this.#prompts = shown
      const isSame = round === this.#round
      if (isSame && (this.#hasEdits || !prompts)) return
      this.#hasEdits = prompts !== undefined
      this.#round = round
      if (!isSame) this.#edits = new Map()
      for (const { entryId, draft, from } of prompts ?? []) {
        if (this.#edits.has(entryId)) continue
        const known = from && this.#known.get(`${from.round} ${from.entryId}`)
        this.#write(entryId, known ?? draft.text)
      }
    }

    #type(prompt: number): void {
      for (const [id, number] of this.#prompts) {
        if (number !== prompt || number < 0) continue
        // not while an edit of the prompt has no entry
        if (this.#typed.has(number) && !this.#edits.has(id)) continue
        this.#typed.set(number, `key ${++this.#keys}`)
        this.#write(id, `key ${this.#keys}`)
      }
    }

    #write(entryId: string, text: string): void {
      const edit = { round: this.#round, entryId }
      this.#edits.set(entryId, text)
      this.#known.set(`${edit.round} ${entryId}`, text)
      this.#toHost.push(() => void (store(edit, text) && this.#snapshot()))
    }

    end(): void {
      this.#loaded()
      this.#snapshot()
      while (this.#toPage.length + this.#toHost.length > 0) (this.#toHost.shift() ?? this.#toPage.shift())?.()
      const wanted = [...this.#typed]
        .map(([number, text]) => [`e${2 * (this.#earlier + number)}`, text])
        .sort()
      const stored = drafts.edits('a').map(({ entryId, draft }) => [entryId, draft.text])
      assert.deepEqual(stored.sort(), wanted)
      assert.deepEqual([...this.#edits].sort(), wanted)
      assert.deepEqual(returned, [])
      drafts.dispose()
    }
  }

  it('is not replaced by another edit that moves to the same entry: that goes to the composer', () => {
    drafts.set('b', { text: 'draft', chips: [], items: [] })
    drafts.setText(editKey('a', 'e0'), 'of a', [])
    drafts.setText(editKey('b', 'e0'), 'of b', [])
    drafts.moveEdits('a', 'b')
    assert.deepEqual(
      drafts.edits('b').map(({ entryId, draft }) => [entryId, draft.text]),
      [['e0', 'of b']],
    )
    assert.match(drafts.get('b').text, /^draft\s+of a$/)
    assert.deepEqual(drafts.edits('a'), [])
  })
})
