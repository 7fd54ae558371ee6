import assert from 'node:assert/strict'
import { effect } from '@preact/signals'
import fc from 'fast-check'
import type { ConversationPatch, ConversationSnapshot, PatchOp } from '../../../../src/bridge/conversation.ts'
import type { Entry, MessageEntry } from '../../../../src/conversation/state.ts'
import type { EntrySlot } from '../../../../src/webview/conversation/slot.ts'
import { ConversationStore } from '../../../../src/webview/conversation/store.ts'
import { refusalOf } from '../../../../src/webview/conversation/tool-permissions.ts'
import { until } from '../../../support/until.ts'
import { head, message, permission, toolCall } from './entries.ts'

function snapshot(entries: Entry[], more: Partial<ConversationSnapshot> = {}): ConversationSnapshot {
  return {
    revision: 1,
    head: head(),
    entries,
    first: 0,
    total: entries.length,
    terminals: [],
    draft: { text: '', chips: [], items: [] },
    ...more,
  }
}

function patch(revision: number, ...ops: PatchOp[]): ConversationPatch {
  return { revision, ops }
}

const noFetch = () => Promise.reject(new Error('nothing should be fetched'))

function shown(store: ConversationStore): string[] {
  return store.rows.window.items.map(row => {
    if (row.kind === 'markdown') return row.slot.documents[row.block]!.blocks[row.part]!.source.trim()
    if (row.kind === 'missing') return `missing ${row.entryIndex}`
    return row.kind
  })
}

/** Starts to count how often these entries are read. */
function countReads(slots: readonly EntrySlot[]): () => number {
  let reads = 0
  for (const slot of slots) {
    const { entry } = slot
    const get = () => {
      reads++
      return entry
    }
    Object.defineProperty(slot, 'entry', { get })
  }
  return () => reads
}

describe('conversation store', () => {
  it('appends text to the right message, block by block', () => {
    const store = new ConversationStore(noFetch)
    store.applySnapshot(snapshot([message('u', 'user', 'Go'), message('a', 'agent', 'One.\n\nTw')]))
    assert.deepEqual(shown(store), ['prompt', 'One.', 'Tw'])
    assert.ok(store.applyPatch(patch(2, { op: 'text', id: 'a', block: 0, text: 'o.\n\nThree' })))
    assert.deepEqual(shown(store), ['prompt', 'One.', 'Two.', 'Three'])
    const entry = store.slot('a')!.entry.peek() as MessageEntry
    assert.deepEqual(entry.blocks, [{ type: 'text', text: 'One.\n\nTwo.\n\nThree' }])
  })

  it('requests a snapshot after a gap, and ignores patches until it arrives', () => {
    const store = new ConversationStore(noFetch)
    assert.equal(store.applyPatch(patch(1)), false)
    store.applySnapshot(snapshot([message('a', 'agent', 'One')]))
    assert.equal(store.applyPatch(patch(3, { op: 'text', id: 'a', block: 0, text: ' lost' })), false)
    assert.equal(store.applyPatch(patch(4)), false)
    assert.deepEqual(shown(store), ['One'])
    store.applySnapshot(snapshot([message('a', 'agent', 'One and all')], { revision: 7 }))
    assert.ok(store.applyPatch(patch(8, { op: 'text', id: 'a', block: 0, text: '.' })))
    assert.deepEqual(shown(store), ['One and all.'])
  })

  it('collapses all turns, also those that are fetched later, until they are expanded', async () => {
    const turns = [1, 2, 3].flatMap((turn): Entry[] => [
      { ...message(`u${turn}`, 'user', 'Go'), turn },
      { ...message(`a${turn}`, 'agent', `Answer ${turn}`), turn, turnSummary: { tools: 9, failed: 0 } },
    ])
    const store = new ConversationStore(async (_key, from, to) => turns.slice(from, to))
    store.applySnapshot(snapshot(turns.slice(2), { first: 2, total: 6 }))
    store.setAllFolded(true)
    const folded = ['prompt', 'turn']
    assert.deepEqual(shown(store), ['missing 0', 'missing 1', ...folded, ...folded])
    await store.load(0)
    assert.deepEqual(shown(store), [...folded, ...folded, ...folded])
    store.setFolded(store.slot('a2')!, false)
    assert.deepEqual(shown(store), [...folded, 'prompt', 'Answer 2', 'turn', ...folded])
    store.setAllFolded(false)
    assert.deepEqual(
      shown(store).filter(row => row.startsWith('Answer')),
      ['Answer 1', 'Answer 2', 'Answer 3'],
    )
  })

  it('draws only what a patch changes', () => {
    const store = new ConversationStore(noFetch)
    store.applySnapshot(
      snapshot([message('a', 'agent', 'One.\n\nTwo'), toolCall('t'), message('b', 'agent', 'Last')]),
    )
    const runs: Record<string, number> = {}
    const count = (name: string, read: () => unknown) =>
      effect(() => {
        read()
        runs[name] = (runs[name] ?? 0) + 1
      })
    const first = store.slot('a')!
    const stops = [
      count('closed block', () => first.documents[0]!.watch(0).value),
      count('other message', () => store.slot('b')!.documents[0]!.watch(0).value),
      count('tool call', () => store.slot('t')!.entry.value),
      count('message', () => first.entry.value),
      count('open block', () => first.documents[0]!.watch(1).value),
      count('head', () => store.head.value),
    ]
    store.applyPatch(patch(2, { op: 'text', id: 'a', block: 0, text: ' more' }))
    store.applyPatch(patch(3, { op: 'entry', index: 1, entry: toolCall('t', { status: 'failed' }) }))
    for (const stop of stops) stop()
    assert.deepEqual(runs, {
      'closed block': 1,
      'other message': 1,
      'tool call': 2,
      message: 1,
      'open block': 2,
      head: 1,
    })
  })

  it('loads earlier entries once, page by page, and shows them in order', async () => {
    const all = Array.from({ length: 250 }, (_, i): Entry => message(`e${i}`, 'agent', `Text ${i}`))
    const asked: Array<[string, number, number]> = []
    const store = new ConversationStore(async (key, from, to) => {
      asked.push([key, from, to])
      return structuredClone(all.slice(from, to))
    })
    store.applySnapshot(snapshot(all.slice(200), { first: 200, total: 250 }))
    assert.equal(shown(store)[199], 'missing 199')
    store.need(150, 200)
    store.need(180, 200)
    await fetched(store, 'e100')
    assert.deepEqual(asked, [['k1', 100, 200]])
    assert.equal(shown(store)[99], 'missing 99')
    assert.equal(shown(store)[100], 'Text 100')
    store.need(150, 250)
    assert.equal(asked.length, 1)
  })

  it('has one row for what a restore set aside, and fetches that only when it is shown', async () => {
    const all = Array.from({ length: 1000 }, (_, i): Entry => message(`e${i}`, 'agent', `Text ${i}`))
    const asked: number[] = []
    const store = new ConversationStore(async (_key, from, to) => {
      asked.push(from)
      return structuredClone(all.slice(from, to))
    })
    const rewind = { from: 2, to: 9, id: 'e998', first: 2, end: 998 }
    store.applySnapshot(snapshot(all.slice(900), { first: 900, total: 1000 }))
    assert.equal(shown(store).length, 1000)
    store.applyPatch(patch(2, { op: 'head', head: { rewinds: [rewind] } }))
    assert.deepEqual(shown(store), ['missing 0', 'missing 1', 'aside', 'Text 998', 'Text 999'])
    store.need(0, 1000)
    await until(() => asked.length > 0)
    await fetched(store, 'e0')
    assert.deepEqual(asked, [0])
    assert.deepEqual(shown(store), ['Text 0', 'Text 1', 'aside', 'Text 998', 'Text 999'])
    // what streams in there isn't shown
    store.applyPatch(patch(3, { op: 'text', id: 'e950', block: 0, text: '\n\nMore' }))
    assert.equal(shown(store).length, 5)
    store.expandFor(store.slot('e950')!)
    assert.deepEqual(shown(store).slice(0, 4), ['Text 0', 'Text 1', 'aside', 'Text 2'])
    assert.equal(shown(store).length, 1002)
    // an earlier restore includes it; undone, all is as before
    store.applyPatch(
      patch(4, { op: 'head', head: { rewinds: [rewind, { ...rewind, id: 'e999', first: 1, end: 999 }] } }),
    )
    assert.deepEqual(shown(store), ['Text 0', 'aside', 'Text 999'])
    store.applyPatch(patch(5, { op: 'head', head: { rewinds: [] } }))
    assert.equal(shown(store).length, 1001)
  })

  it('drops a page that arrives after another conversation was opened', async () => {
    let answer: (entries: Entry[]) => void = () => undefined
    const store = new ConversationStore(
      () =>
        new Promise(resolve => {
          answer = resolve
        }),
    )
    store.applySnapshot(snapshot([message('z', 'agent', 'Last')], { first: 1, total: 2 }))
    store.need(0, 1)
    store.applySnapshot(snapshot([message('n', 'agent', 'New')], { head: head({ key: 'k2' }), revision: 2 }))
    answer([message('old', 'agent', 'Old')])
    await new Promise(resolve => setImmediate(resolve))
    assert.deepEqual(shown(store), ['New'])
    assert.equal(store.slot('z'), undefined)
  })

  it('shows the same once the rest is there, if the end of a conversation came first', () => {
    const kinds = fc.constantFrom('user', 'agent', 'thought', 'read', 'execute')
    const made = (kind: string, i: number): Entry =>
      kind === 'read' || kind === 'execute'
        ? toolCall(`e${i}`, { toolKind: kind })
        : message(`e${i}`, kind as MessageEntry['role'], `Text ${i}\n\nMore`)
    const about = (store: ConversationStore) => ({
      rows: store.rows.window.items.map(({ key, height, gap, index }) => ({ key, height, gap, index })),
      total: store.total.value,
      last: store.last.value?.id,
    })
    fc.assert(
      fc.property(
        fc.array(kinds, { minLength: 2, maxLength: 60 }),
        fc.integer({ min: 1, max: 10 }),
        (kinds, last) => {
          const all = kinds.map(made)
          const total = all.length
          const of = (count: number, more: Partial<ConversationSnapshot> = {}) => {
            const first = Math.max(0, total - count)
            return snapshot(structuredClone(all.slice(first)), { first, total, ...more })
          }
          const [parted, whole] = [new ConversationStore(noFetch), new ConversationStore(noFetch)]
          parted.applySnapshot(of(last, { more: true }))
          assert.equal(parted.total.value, total)
          parted.need(0, total)
          const { height } = parted.rows.window
          const end = parted.rows.window.items.at(-1)
          parted.applySnapshot(of(last, { revision: 2 }))
          assert.equal(parted.rows.window.height, height, 'the scroll bar stays')
          assert.equal(end?.kind === 'run' || parted.rows.window.items.at(-1) === end, true, 'the rows stay')
          parted.applySnapshot(of(20, { revision: 3 }))
          whole.applySnapshot(of(20))
          assert.deepEqual(about(parted), about(whole))
        },
      ),
    )
  })

  it('loads an entry before the end once the host has it', async () => {
    const all = Array.from({ length: 250 }, (_, i): Entry => message(`e${i}`, 'agent', `Text ${i}`))
    const asked: number[] = []
    const store = new ConversationStore(async (_key, from, to) => {
      asked.push(from)
      return structuredClone(all.slice(from, to))
    })
    store.applySnapshot(snapshot(all.slice(200), { first: 200, total: 250, more: true }))
    const loading = store.load(3)
    const elsewhere = new ConversationStore(noFetch)
    elsewhere.applySnapshot(snapshot(all.slice(200), { first: 200, total: 250, more: true }))
    const lost = elsewhere.load(3)
    await new Promise(resolve => setImmediate(resolve))
    assert.deepEqual(asked, [])
    store.applySnapshot(snapshot(all.slice(200), { first: 200, total: 250, revision: 2 }))
    assert.equal((await loading)?.id, 'e3')
    elsewhere.applySnapshot(snapshot(all.slice(0, 5), { head: head({ key: 'k2' }), revision: 2 }))
    assert.equal(await lost, undefined)
  })

  it('keeps loaded and expanded entries after a snapshot of the same conversation', async () => {
    const all = Array.from(
      { length: 150 },
      (_, i): Entry => message(`e${i}`, i === 120 ? 'thought' : 'agent', `Text ${i}`),
    )
    const store = new ConversationStore(async (_key, from, to) => structuredClone(all.slice(from, to)))
    store.applySnapshot(snapshot(structuredClone(all.slice(100)), { first: 100, total: 150 }))
    store.need(0, 100)
    await fetched(store, 'e0')
    store.expansion.state('e120').value = true
    store.applySnapshot(snapshot(structuredClone(all.slice(100)), { first: 100, total: 150, revision: 9 }))
    assert.equal(shown(store)[0], 'Text 0')
    assert.equal(shown(store)[121], 'Text 120', 'the thought is still open')
  })

  it('reloads visible entries that may have changed while the view was hidden', async () => {
    const all = Array.from({ length: 250 }, (_, i): Entry => message(`e${i}`, 'agent', `Text ${i}`))
    const asked: number[] = []
    const store = new ConversationStore(async (_key, from, to) => {
      asked.push(from)
      return structuredClone(all.slice(from, to))
    })
    const show = (revision: number) =>
      store.applySnapshot(snapshot(structuredClone(all.slice(200)), { first: 200, total: 250, revision }))
    show(1)
    store.need(0, 200)
    await fetched(store, 'e0')
    await fetched(store, 'e100')
    all[150] = message('e150', 'agent', 'Something else')
    show(9)
    assert.equal(shown(store)[150], 'Text 150', 'nothing is taken away meanwhile')
    store.need(200, 250)
    assert.deepEqual(asked, [0, 100])
    store.need(140, 160)
    await until(() => shown(store)[150] === 'Something else')
    store.need(140, 160)
    assert.deepEqual(asked, [0, 100, 100])
  })

  it('gets pending requests and their entries from the host, however far back they are', () => {
    const store = new ConversationStore(noFetch)
    const pending = (id: string, index: number) => ({ requestId: `request-${id}`, entryId: id, index })
    const old = permission('p1', { toolCallId: 'call-t', within: 'child' })
    const its = toolCall('t', { within: 'child' })
    const other = toolCall('u', { toolCallId: 'call-t' })
    store.applySnapshot(
      snapshot([other, permission('p2'), permission('p3', { toolCallId: 'call-t' })], {
        head: head({ pendingRequests: [pending('p1', 7), pending('p2', 501)] }),
        first: 500,
        total: 503,
        pendingEntries: [
          { index: 3, entry: its },
          { index: 7, entry: old },
        ],
      }),
    )
    assert.deepEqual(store.waiting.value, ['p1', 'p2'])
    assert.equal(store.slot('p1')?.index, 7)
    assert.deepEqual(
      store.rows.rowsOf(7).map(row => row.kind),
      ['permission'],
    )
    assert.equal(store.slot('p1')!.call, store.slot('t'), 'each subagent has its own ids')
    assert.equal(store.slot('p3')!.call, store.slot('u'))
    store.applyPatch(patch(2, { op: 'head', head: { pendingRequests: [pending('p2', 501)] } }))
    assert.deepEqual(store.waiting.value, ['p2'])
  })

  it('knows which tool call a request is about if an agent uses its id again', () => {
    const call = (id: string, turn: number) =>
      toolCall(id, { toolCallId: 'call', turn, status: turn === 1 ? 'failed' : 'completed' })
    const about = (id: string, optionId: string) =>
      permission(id, {
        toolCallId: 'call',
        options: [
          { optionId: 'yes', name: 'Allow once', kind: 'allow_once' },
          { optionId: 'no', name: 'Reject', kind: 'reject_once' },
        ],
        outcome: { type: 'selected', optionId },
      })
    const entries = [call('t1', 1), about('p1', 'no'), message('m', 'user', 'Again'), call('t2', 2)]
    const store = new ConversationStore(noFetch)
    store.applySnapshot(snapshot([...entries, about('p2', 'yes')]))
    const called = () => ['p1', 'p2'].map(id => store.slot(id)!.call?.id)
    const refused = () => ['t1', 't2'].map(id => refusalOf(store.slot(id)!))
    assert.deepEqual(
      [called(), refused()],
      [
        ['t1', 't2'],
        ['rejected', undefined],
      ],
    )
    // the older ones change or are fetched last
    store.applyPatch(patch(2, { op: 'entry', index: 1, entry: entries[1]! }))
    store.applyPatch(patch(3, { op: 'entry', index: 0, entry: entries[0]! }))
    assert.deepEqual(
      [called(), refused()],
      [
        ['t1', 't2'],
        ['rejected', undefined],
      ],
    )
  })

  it('forgets a request that was answered while the view was hidden', () => {
    const store = new ConversationStore(noFetch)
    const pendingRequests = [{ requestId: 'request-p', entryId: 'p', index: 0 }]
    store.applySnapshot(snapshot([permission('p')], { head: head({ pendingRequests }) }))
    store.applySnapshot(snapshot([message('z', 'agent', 'Done')], { first: 1, total: 2, revision: 5 }))
    assert.deepEqual(store.waiting.value, [])
    assert.equal(store.asked.value, false)
  })

  it('accepts terminals in any order, and appends their output', async () => {
    const store = new ConversationStore(noFetch)
    store.applySnapshot(snapshot([]))
    const terminal = store.terminals.get('t1')
    const { screen } = terminal
    const leave = terminal.view()
    const text = () => screen.value?.lines.map(line => screen.value?.text(line)).join('|')
    store.applyPatch(patch(2, { op: 'terminal_output', terminalId: 't1', text: 'a\n' }))
    store.applyPatch(
      patch(3, { op: 'terminal', terminal: { terminalId: 't1', output: 'a\nb', truncated: false } }),
    )
    assert.equal(terminal.raw, 'a\nb')
    await until(() => text() === 'a|b')
    store.applyPatch(
      patch(4, { op: 'terminal', terminal: { terminalId: 't1', output: 'new', truncated: true } }),
    )
    assert.equal(terminal.raw, 'new')
    await until(() => text() === 'new')
    leave()
    store.applyPatch(patch(5, { op: 'terminal_output', terminalId: 't1', text: ' and more' }))
    terminal.view()
    await until(() => text() === 'new and more')
  })

  it('replaces and clears properties of the head', () => {
    const store = new ConversationStore(noFetch)
    store.applySnapshot(snapshot([], { head: head({ title: 'Old', usage: { used: 1, size: 2 } }) }))
    store.applyPatch(patch(2, { op: 'head', head: { title: 'New' }, cleared: ['usage'] }))
    assert.equal(store.head.value?.title, 'New')
    assert.equal('usage' in store.head.value!, false)
    assert.equal(store.head.value?.key, 'k1')
  })

  const said = (id: string, from: string, to: string): Entry => ({
    kind: 'session_message',
    id,
    turn: 1,
    messageId: id,
    from,
    to,
    blocks: [{ type: 'text', text: `Words of ${id}` }],
  })

  it('keeps the messages of each session in order, through changes, pages and snapshots', async () => {
    const entries = Array.from({ length: 150 }, (_, i) =>
      i % 3 === 0 ? said(`e${i}`, i % 2 === 0 ? 'parent' : 'a', i % 2 === 0 ? 'a' : 'b') : toolCall(`e${i}`),
    )
    const store = new ConversationStore(async (_, from, to) => entries.slice(from, to))
    store.applySnapshot(snapshot(entries.slice(140), { first: 140, total: 150 }))
    const drawn: string[][] = []
    const of = (session: string) => store.subagents.messagesOf(session).map(slot => slot.id)
    const stop = effect(() => void drawn.push(of('b')))
    const expected = (session: string) =>
      entries.flatMap(entry =>
        entry.kind === 'session_message' && (entry.from === session || entry.to === session)
          ? [entry.id]
          : [],
      )
    assert.deepEqual(of('b'), ['e141', 'e147'])
    store.need(0, 140)
    await fetched(store, 'e0')
    assert.deepEqual(drawn.at(-1), expected('b'))
    for (const session of ['parent', 'a', 'b', 'nobody']) assert.deepEqual(of(session), expected(session))

    entries[147] = said('e147', 'parent', 'a')
    store.applyPatch(patch(2, { op: 'entry', index: 147, entry: entries[147] }))
    entries.push(said('self', 'b', 'b'))
    store.applyPatch(patch(3, { op: 'entry', index: 150, entry: entries[150]! }))
    assert.deepEqual(drawn.at(-1), expected('b'))
    for (const session of ['parent', 'a', 'b']) assert.deepEqual(of(session), expected(session))

    entries.splice(140)
    store.applySnapshot(snapshot(entries.slice(130), { first: 130, total: 140, revision: 4 }))
    assert.deepEqual(drawn.at(-1), expected('b'))
    store.applySnapshot(snapshot([], { head: head({ key: 'another' }), revision: 5 }))
    assert.deepEqual([of('parent'), of('a'), of('b')], [[], [], []])
    stop()
  })

  it('reads no other entry for a message of a subagent, among 1,000 or 10', () => {
    const reads = (count: number) => {
      const store = new ConversationStore(noFetch)
      const entries = Array.from({ length: count }, (_, i) =>
        i % 2 === 0 ? said(`e${i}`, 'parent', 'child') : message(`e${i}`, 'agent', 'Words'),
      )
      store.applySnapshot(snapshot(entries))
      let shown = 0
      const stop = effect(() => {
        shown = store.subagents.messagesOf('child').length
      })
      const looked = countReads(entries.map(({ id }) => store.slot(id)!))
      store.applyPatch(patch(2, { op: 'entry', index: count, entry: said('new', 'child', 'parent') }))
      stop()
      assert.equal(shown, count / 2 + 1)
      return looked()
    }
    assert.ok(reads(1000) <= reads(10) * 1.5, `${reads(1000)} reads among 1,000, ${reads(10)} among 10`)
  })

  it('shows the same after any patches as a snapshot of the same state', () => {
    const text = fc.constantFrom('a', ' b', '\n\n', '- x\n', '```\n', '# h\n', 'https://a.b ')
    const step = fc.oneof(
      fc.record({
        type: fc.constant('new' as const),
        kind: fc.constantFrom('agent', 'thought', 'user', 'read', 'search', 'edit', 'permission'),
        text,
      }),
      fc.record({ type: fc.constant('text' as const), at: fc.nat(), text }),
      fc.record({ type: fc.constant('status' as const), at: fc.nat() }),
      fc.record({
        type: fc.constantFrom('open' as const, 'shows' as const, 'unfold' as const),
        at: fc.nat(),
      }),
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 50 }), steps => {
        const state: Entry[] = []
        const store = new ConversationStore(noFetch)
        store.applySnapshot(snapshot([]))
        const opened = new Set<string>()
        let revision = 1
        const send = (op: PatchOp) => assert.ok(store.applyPatch(structuredClone(patch(++revision, op))))
        for (const one of steps) {
          if (one.type === 'new') {
            const id = `e${state.length}`
            const entry: Entry =
              one.kind === 'permission'
                ? permission(id)
                : one.kind === 'agent' || one.kind === 'thought' || one.kind === 'user'
                  ? message(id, one.kind, one.text)
                  : toolCall(id, { toolKind: one.kind })
            state.push(entry)
            send({ op: 'entry', index: state.length - 1, entry })
            continue
          }
          const index = state.length === 0 ? -1 : one.at % state.length
          const entry = state[index]
          if (!entry) continue
          if (one.type === 'text' && entry.kind === 'message') {
            const block = entry.blocks[0]!
            if (block.type === 'text') block.text += one.text
            send({ op: 'text', id: entry.id, block: 0, text: one.text })
          } else if (one.type === 'status' && entry.kind === 'tool_call') {
            const next = { completed: 'in_progress', in_progress: 'failed' } as const
            entry.status = next[entry.status as keyof typeof next] ?? 'completed'
            send({ op: 'entry', index, entry })
          } else if (one.type === 'shows' && entry.kind === 'tool_call') {
            entry.content = entry.content.length > 0 ? [] : [{ type: 'terminal', terminalId: 't' }]
            send({ op: 'entry', index, entry })
          } else if (one.type === 'unfold') {
            const [first] = store.rows.rowsOf(index)
            if (first?.kind !== 'run') continue
            opened.add(first.key)
            store.expansion.state(first.key).value = true
            store.rows.changed(first.slots[0]!.index, first.slots.at(-1)!.index + 1)
          } else if (one.type === 'open') {
            opened.add(entry.id)
            store.expansion.state(entry.id).value = true
            store.rows.changed(index, index + 1)
          }
        }
        const fresh = new ConversationStore(noFetch)
        for (const id of opened) fresh.expansion.state(id).value = true
        // the first snapshot of a conversation resets what was expanded in another one
        fresh.head.value = head()
        fresh.applySnapshot(snapshot(structuredClone(state)))
        assert.deepEqual(shown(store), shown(fresh))
        assert.deepEqual(
          store.rows.window.items.map(row => [row.key, row.gap, row.index]),
          fresh.rows.window.items.map(row => [row.key, row.gap, row.index]),
        )
      }),
    )
  })
})

/** Waits until an entry is loaded; the store loads in microtasks. */
async function fetched(store: ConversationStore, id: string): Promise<void> {
  for (let i = 0; i < 100 && !store.slot(id); i++) await new Promise(resolve => setImmediate(resolve))
  assert.ok(store.slot(id), `${id} was fetched`)
}
