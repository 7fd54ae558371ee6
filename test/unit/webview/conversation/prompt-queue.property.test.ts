import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mock } from 'node:test'
import fc from 'fast-check'
import { DraftStore } from '../../../../src/app/storage/draft-store.ts'
import { EMPTY_DRAFT, type Draft as WrittenDraft } from '../../../../src/common/draft.ts'
import type { Attachment, StoredPrompt } from '../../../../src/conversation/attachment.ts'
import type { PromptQueue } from '../../../../src/conversation/prompts/prompt-queue.ts'
import { isReturned } from '../../../../src/conversation/prompts/prompt-states.ts'
import { Session } from '../../../../src/conversation/session.ts'
import type { UnsentTexts } from '../../../../src/history/unsent-texts.ts'
import { PromptQueues } from '../../../../src/sessions/prompt-queues.ts'
import { Draft } from '../../../../src/webview/conversation/composer/draft.ts'
import { MemoryUnsentTexts, UnsentTable } from '../../../support/memory-unsent-texts.ts'
import { noContext } from '../../../support/no-context.ts'
import { FakeAgent } from '../../conversation/fake-agent.ts'

const key = 'agent/session'
/** A clock for everything that a page or a window waits for; it advances only in the steps for that. */
const stopTime = () => mock.timers.enable({ apis: ['setTimeout'] })
const settle = () => new Promise<void>(resolve => setImmediate(resolve))

/** The words that a test wrote, in order; each is unique. */
const wordsIn = (text: string) => text.match(/w\d+/g) ?? []
const wordsOf = ({ text, items }: WrittenDraft<Attachment>) => [
  ...wordsIn(text),
  ...items.map(item => item.label),
]

/** The disk and the agents, which aren't affected when windows close or crash. */
class World {
  readonly unsent = new UnsentTable()
  /** the prompts that agents received, in order */
  readonly received: string[][] = []
  readonly written: string[] = []
  /** words of prompts that reached a host, and may not be lost in a crash */
  readonly safe = new Set<string>()
  readonly windows: Window[] = []
  readonly running = new Set<Window>()
  words = 0

  constructor() {
    this.openWindow()
  }

  get window(): Window {
    return this.windows.at(-1)!
  }

  openWindow(): void {
    this.windows.push(new Window(this))
  }

  /** Crashes without any notification, so that only the disk is left. */
  crash(): void {
    this.window.isGone = true
    this.#next()
    this.forgetLost()
  }

  /** Closes the window normally; another one continues. */
  close(): void {
    this.window.close()
    this.#next()
  }

  #next(): void {
    this.running.delete(this.window)
    this.windows.pop()
    if (this.windows.length === 0) this.openWindow()
    for (const window of this.windows) window.store.takeOver()
  }

  /** Forgets typed text that hadn't reached the disk, which is lost with its window. */
  forgetLost(): void {
    const kept = new Set([...this.received.flat(), ...this.windows.flatMap(window => window.kept())])
    const left = this.written.filter(word => this.safe.has(word) || kept.has(word))
    this.written.splice(0, this.written.length, ...left)
  }

  /** With two windows, each has its own order. */
  check(inOrder: boolean): void {
    for (const { page, queue } of this.windows) {
      assert.deepEqual([page.handedOver.peek(), queue.prompts], [[], []])
    }
    const drafts = this.windows.map(({ page }) => page.content.peek())
    const texts = [...this.received.flat(), ...drafts.flatMap(wordsOf)]
    assert.deepEqual(inOrder ? texts : texts.toSorted(), inOrder ? this.written : this.written.toSorted())
  }

  async rest(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      let due = 0
      for (const window of this.windows) due += await window.rest()
      quiet = due === 0 ? quiet + 1 : 0
    }
  }

  end(): void {
    for (const window of this.windows) window.store.dispose()
  }
}

/** A window: a composer, its host, a session, and the messages between them; the test controls every step. */
class Window {
  readonly #world: World
  readonly id = randomUUID()
  readonly store: DraftStore
  readonly queues: PromptQueues
  readonly queue: PromptQueue
  agent!: FakeAgent
  session!: Session
  page!: Draft
  isGone = false
  /** messages from the page to its host, and back */
  toHost: Array<() => void> = []
  toPage: Array<() => void> = []
  /** prompts whose content the test still has to create or refuse */
  preparing: Array<{ make: () => void; refuse: () => void }> = []
  refusals = 0
  /** the unsent prompts as the user sees them, and before the last change of the queue */
  #shown: { before: string[][]; now: string[][] } = { before: [], now: [] }

  constructor(world: World) {
    this.#world = world
    world.running.add(this)
    const texts = new MemoryUnsentTexts(world.unsent, {
      own: this.id,
      isListed: id => [...world.running].some(window => window.id === id),
    })
    this.store = new DraftStore(this.#unlessGone(texts))
    this.queues = new PromptQueues({ storage: this.store, sources: noContext })
    this.queue = this.queues.of(key)
    this.queue.onDidChange(() => {
      this.#shown = { before: this.#shown.now, now: this.#waiting() }
    })
    this.queues.onDidChange(queue => {
      const returned = queue.returned
      const { page } = this
      if (returned.length > 0) this.toPage.push(() => page.returned(key, returned))
    })
    this.openSession()
    this.openPage()
  }

  /** A window that crashed takes over and writes nothing. */
  #unlessGone(texts: MemoryUnsentTexts): UnsentTexts {
    const { takeOver, write } = texts
    return Object.assign(texts, {
      takeOver: () => (this.isGone ? [] : takeOver.call(texts)),
      write: (...written: Parameters<typeof write>) => !this.isGone && write.apply(texts, written),
    })
  }

  openSession(): void {
    const agent = new FakeAgent()
    const setup = { cwd: '/w', additionalDirectories: [], mcpServers: [] }
    this.agent = agent
    this.session = new Session({ agent, sessionId: 's', setup, phase: 'ready' })
    const { session } = this
    agent.onUpdate(({ update }) => session.receive(update))
    const prompt = agent.prompt.bind(agent)
    agent.prompt = (sessionId, content) => {
      const words = content.flatMap(block => (block.type === 'text' ? wordsIn(block.text) : []))
      assert.deepEqual(words, this.#shown.before[0], 'the first prompt that the user sees is sent')
      this.#world.received.push(words)
      return prompt(sessionId, content)
    }
    session.turns.queue = this.queue
  }

  endTurn(fails: boolean): void {
    const call = this.agent.prompts.shift()
    if (!call) return
    if (fails) call.answer.reject(new Error('broken'))
    else this.agent.endTurn(call)
  }

  /** Creates a page with its host's first messages. An earlier page gets no more messages. */
  openPage(): void {
    const { store, queue } = this
    const toPage: Array<() => void> = []
    this.toPage = toPage
    const ask = (deliver: () => void) =>
      new Promise<void>(resolve => {
        this.toHost.push(() => {
          deliver()
          toPage.push(resolve)
        })
      })
    this.page = new Draft({
      saveText: (_key, text, chips) => ask(() => store.setText(key, text, chips)),
      saveItems: (_key, items) => void this.toHost.push(() => store.setItems(key, items)),
      movedToComposer: (_key, ids, draft) => ask(() => queue.movedToComposer(ids, draft)),
      enqueue: (_key, prompt) => ask(() => this.#enqueue(prompt)),
    })
    this.page.onRefused = () => this.refusals++
    this.snapshot()
  }

  #enqueue(prompt: StoredPrompt): void {
    for (const word of wordsOf(prompt.draft)) this.#world.safe.add(word)
    const text = wordsOf(prompt.draft).join(' ')
    this.queue.enqueue(
      prompt,
      () =>
        new Promise((resolve, reject) => {
          this.preparing.push({
            make: () => resolve([{ type: 'text', text }]),
            refuse: () => reject(new Error('No.')),
          })
        }),
      { composer: EMPTY_DRAFT },
    )
  }

  snapshot(): void {
    const returned = this.queue.returned
    const saved = this.store.get(key)
    const { page } = this
    this.toPage.push(() => page.show(key, saved, returned))
  }

  type(): void {
    const word = `w${++this.#world.words}`
    this.#world.written.push(word)
    const { text, chips } = this.page.content.peek()
    this.page.write(`${text}${word} `, chips)
  }

  attach(): void {
    const label = `w${++this.#world.words}`
    this.#world.written.push(label)
    this.page.attach({ id: label, label, icon: 'file', content: { type: 'text', text: label } })
  }

  #waiting(): string[][] {
    return this.queue.prompts.filter(({ state }) => !isReturned(state)).map(({ draft }) => wordsOf(draft))
  }

  /** Writes a prompt that reaches the host, which then waits for its content. */
  async enqueue(): Promise<void> {
    this.type()
    this.page.send()
    for (const deliver of this.toHost.splice(0)) deliver()
    await settle()
  }

  /** Writes a prompt that reaches the host, which creates its content immediately. */
  async prompt(): Promise<void> {
    await this.enqueue()
    for (let next = this.preparing.shift(); next; next = this.preparing.shift()) {
      next.make()
      await settle()
    }
  }

  removeFirst(): void {
    const first = this.queue.queued[0]
    if (!first) return
    const gone = wordsOf(first.draft)
    this.queue.remove(first.id)
    const { written } = this.#world
    written.splice(0, written.length, ...written.filter(word => !gone.includes(word)))
  }

  /** Recreates the page; what it had sent to its host still arrives. */
  async reloadPage(): Promise<void> {
    this.page.flush()
    for (const deliver of this.toHost.splice(0)) deliver()
    await settle()
    this.openPage()
    await this.load()
  }

  /** Waits until the page knows what it shows, since it can't be used earlier. */
  async load(): Promise<void> {
    for (const deliver of this.toPage.splice(0)) deliver()
    await settle()
  }

  /** Closes the window normally, and opens it again. */
  close(): void {
    this.page.flush()
    for (const deliver of this.toHost.splice(0)) deliver()
    this.store.dispose()
    this.isGone = true
  }

  /** All text in this window, some of it more than once. */
  kept(): string[] {
    const drafts = [...this.page.handedOver.peek(), ...this.queue.prompts].map(({ draft }) => draft)
    return [...drafts, this.page.content.peek(), this.store.get(key)].flatMap(wordsOf)
  }

  async rest(): Promise<number> {
    const due = this.toHost.length + this.toPage.length + this.preparing.length + this.agent.prompts.length
    for (const deliver of this.toHost.splice(0)) deliver()
    await settle()
    for (const deliver of this.toPage.splice(0)) {
      deliver()
      await settle()
    }
    this.preparing.shift()?.make()
    await settle()
    this.queue.resume()
    this.endTurn(false)
    await settle()
    this.page.flush()
    return due + this.queue.queued.length
  }
}

type Step = (world: World) => void | Promise<void>
const inWindow =
  (step: (window: Window) => void | Promise<void>): Step =>
  world =>
    step(world.window)
const steps = {
  type: inWindow(window => window.type()),
  attach: inWindow(window => window.attach()),
  save: inWindow(window => window.page.flush()),
  time: () => mock.timers.tick(100),
  send: inWindow(window => window.page.send()),
  enqueue: inWindow(window => window.enqueue()),
  prompt: inWindow(window => window.prompt()),
  toHost: inWindow(window => window.toHost.shift()?.()),
  toPage: inWindow(window => window.toPage.shift()?.()),
  make: inWindow(window => window.preparing.shift()?.make()),
  refuse: inWindow(window => window.preparing.shift()?.refuse()),
  endTurn: inWindow(window => window.endTurn(false)),
  snapshot: inWindow(window => window.snapshot()),
  reloadPage: inWindow(window => window.reloadPage()),
  crash: world => world.crash(),
  close: world => world.close(),
} satisfies Record<string, Step>
const moreSteps = {
  ...steps,
  failTurn: inWindow(window => window.endTurn(true)),
  stop: inWindow(window => window.session.turns.cancel()),
  resume: inWindow(window => window.queue.resume()),
  edit: inWindow(({ queue }) => void queue.edit(queue.queued[0]?.id ?? '')),
  remove: inWindow(window => window.removeFirst()),
  move: inWindow(({ queue }) => queue.move(queue.queued.at(-1)?.id ?? '', 0)),
  sendNow: inWindow(({ queue, session }) => void session.turns.sendNow(queue.queued.at(-1)?.id ?? '')),
  agentExit: inWindow(window => {
    window.session.agentEnded({ reason: 'exited', exitCode: 1, stderrTail: '' })
    window.openSession()
  }),
  halfTime: () => mock.timers.tick(50),
  secondWindow: async world => {
    if (world.windows.length > 1) return
    world.openWindow()
  },
  /** Stays silent for so long that other windows consider the window closed. */
  silence: world => {
    world.running.delete(world.window)
    world.openWindow()
  },
  otherWindow: world => void world.windows.unshift(...world.windows.splice(1)),
} satisfies Record<string, Step>

/** All steps except the one after which two composers show the same draft. */
const randomSteps = (Object.keys(moreSteps) as Array<keyof typeof moreSteps>).filter(
  name => name !== 'silence',
)

async function play(
  names: ReadonlyArray<keyof typeof moreSteps>,
  check: (world: World) => void,
): Promise<void> {
  stopTime()
  const world = new World()
  try {
    await world.window.load()
    for (const name of names) {
      const before = new Set(world.windows)
      await moreSteps[name](world)
      await settle()
      for (const window of world.windows) if (!before.has(window)) await window.load()
    }
    await world.rest()
    check(world)
  } finally {
    mock.timers.reset()
    world.end()
  }
}

describe('the prompt queue, from the composer to the agent', () => {
  before(() => {
    const target = { addEventListener() {} }
    Object.assign(globalThis, {
      window: target,
      document: target,
      acquireVsCodeApi: () => ({ getState: () => undefined, setState() {}, postMessage() {} }),
    })
  })
  after(() => {
    for (const name of ['window', 'document', 'acquireVsCodeApi']) Reflect.deleteProperty(globalThis, name)
  })

  const content = ({ window }: World) => window.page.content.peek().text

  it('is stored at any moment while it moves to the session that was started for it', () => {
    const stored = new Map<string, WrittenDraft<Attachment>>()
    const kept = () => [...stored].flatMap(([key, draft]) => wordsOf(draft).map(word => `${key}: ${word}`))
    const seen: string[][] = []
    const put = (key: string, change: Partial<WrittenDraft<Attachment>>) => {
      stored.set(key, { ...EMPTY_DRAFT, ...stored.get(key), ...change })
      seen.push(kept())
    }
    const page = new Draft({
      saveText: async (key, text, chips) => put(key, { text, chips }),
      saveItems: (key, items) => put(key, { items }),
      enqueue: async () => {},
      movedToComposer: async () => {},
    })
    page.show('new', EMPTY_DRAFT)
    page.put({
      text: 'w1',
      chips: [],
      items: [{ id: 'a', label: 'w2', icon: 'file', content: { type: 'file', uri: 'file:///a' } }],
    })
    page.flush()
    seen.length = 0
    page.show('started', EMPTY_DRAFT, [], 'new')
    for (const moment of seen)
      for (const word of ['w1', 'w2'])
        assert.ok(
          moment.some(one => one.endsWith(word)),
          `${word}: ${moment}`,
        )
    assert.deepEqual(kept(), ['started: w1', 'started: w2'])
  })

  it('keeps the comments that were written for the session before its page knew it', () => {
    const stored = new Map<string, string[]>()
    const page = new Draft({
      saveText: async () => {},
      saveItems: (key, items) =>
        void stored.set(
          key,
          items.map(({ label }) => label),
        ),
      enqueue: async () => {},
      movedToComposer: async () => {},
    })
    const about = (label: string): Attachment => ({
      ...{ id: label, label, icon: 'comment' },
      content: { type: 'comment', uri: 'file:///a', startLine: 1, endLine: 1, quote: '', text: label },
    })
    page.show('new', EMPTY_DRAFT)
    page.put({ text: 'w1', chips: [], items: [about('own')] })
    page.show('started', { ...EMPTY_DRAFT, items: [about('written meanwhile')] }, [], 'new')
    assert.deepEqual(stored.get('started'), ['own', 'written meanwhile'])
    // the host learns that this page has the comments of a conversation that it shows next
    page.show('other', { ...EMPTY_DRAFT, items: [about('of the other')] })
    page.flush()
    assert.deepEqual(stored.get('other'), ['of the other'])
  })

  it('clears the composer immediately, and keeps what is typed next', () =>
    play(['type', 'send', 'type'], world => {
      assert.deepEqual([world.received, content(world)], [[['w1']], 'w2 '])
    }))

  it('returns a refused prompt and those sent after it, in front of newer text', () =>
    play(['type', 'send', 'type', 'send', 'type', 'toHost', 'toHost', 'refuse'], world => {
      assert.equal(content(world), 'w1 \n\nw2 \n\nw3 ')
      assert.deepEqual([world.received, world.window.refusals], [[], 1])
    }))

  it('prepares prompts one after the other', () =>
    play(['type', 'send', 'type', 'send', 'toHost', 'toHost'], world => {
      assert.deepEqual(world.received, [['w1'], ['w2']])
    }))

  it('returns a refused prompt only once, even if a snapshot contains it', () =>
    play(['type', 'send', 'toHost', 'refuse', 'snapshot'], world => {
      assert.equal(content(world), 'w1 ')
    }))

  it('returns unsent prompts with a reason after a crash, and sends nothing automatically', () =>
    play(['type', 'send', 'toHost', 'crash'], world => {
      assert.equal(content(world), 'w1 ')
      assert.deepEqual([world.received, world.window.refusals], [[], 1])
    }))

  it('keeps what was typed 100 ms before a crash', () =>
    play(['type', 'halfTime', 'toHost', 'halfTime', 'crash'], world => {
      assert.equal(content(world), 'w1 ')
    }))

  it("leaves prompts to a running window, and takes them over when it's gone", () =>
    play(['type', 'send', 'toHost', 'secondWindow', 'otherWindow', 'otherWindow', 'snapshot'], world => {
      assert.deepEqual(world.received, [['w1']])
      assert.equal(content(world), '')
    }))

  it('sends a prompt only once, even if a window took it over from one that is still running', () =>
    play(['prompt', 'enqueue', 'make', 'silence'], world => {
      assert.deepEqual(world.received, [['w1']])
      assert.equal(content(world), 'w2 ')
    }))

  it('never loses, duplicates or reorders text, whatever happens', async () => {
    const step = fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom('type', 'send', 'toHost', 'toPage', 'enqueue', 'prompt') },
      { weight: 6, arbitrary: fc.constantFrom('make', 'endTurn', 'refuse', 'save', 'time') },
      { weight: 2, arbitrary: fc.constantFrom('snapshot', 'reloadPage', 'crash', 'close') },
    ) as fc.Arbitrary<keyof typeof steps>
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), names =>
        play(names, world => world.check(true)),
      ),
    )
  })

  it('never loses or duplicates text with several windows, edits, stops and failures', async () => {
    const step = fc.oneof(
      {
        weight: 8,
        arbitrary: fc.constantFrom(
          'type',
          'attach',
          'send',
          'toHost',
          'make',
          'refuse',
          'enqueue',
          'enqueue',
          'prompt',
        ),
      },
      {
        weight: 8,
        arbitrary: fc.constantFrom(...randomSteps),
      },
    ) as fc.Arbitrary<keyof typeof moreSteps>
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), names =>
        play(names, world => world.check(false)),
      ),
    )
  })
})
