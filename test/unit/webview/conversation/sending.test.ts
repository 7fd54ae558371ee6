import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import type { Draft as WrittenDraft } from '../../../../src/common/draft.ts'
import type { Attachment, SentPrompt, WaitingPrompt } from '../../../../src/conversation/attachment.ts'
import { Outbox } from '../../../../src/sessions/outbox.ts'
import type { Keep, MakePrompt } from '../../../../src/sessions/ports.ts'
import { KeptDrafts } from '../../../../src/views/storage/kept-drafts.ts'
import { Draft } from '../../../../src/webview/conversation/composer/draft.ts'

const key = 'agent/session'
/** Time passes only where a step says so: what a page or a window waits for goes with it. */
const stopTime = () => mock.timers.enable({ apis: ['setTimeout'] })
const settle = () => new Promise<void>(resolve => setImmediate(resolve))

/** A disk: what was set is there after a crash. */
class Disk implements Keep {
  readonly #values = new Map<string, string>()
  get<T>(name: string): T | undefined {
    const value = this.#values.get(name)
    return value === undefined ? undefined : JSON.parse(value)
  }
  set(name: string, value: unknown): void {
    if (value === undefined) this.#values.delete(name)
    else this.#values.set(name, JSON.stringify(value))
  }
}

/** The words that a test wrote, in their order: each is written once. */
const wordsIn = (text: string) => text.match(/w\d+/g) ?? []
const labelsIn = (drafts: Array<WrittenDraft<Attachment>>) =>
  drafts.flatMap(({ items }) => items.map(item => item.label))

/** A composer, its host and its agent, with all that is between them; every step is the test's. */
class World {
  readonly texts = new Disk()
  readonly items = new Disk()
  drafts!: KeptDrafts
  outbox!: Outbox
  page!: Draft
  /** from the page to its host, and back */
  toHost: Array<() => void> = []
  toPage: Array<() => void> = []
  /** prompts that the conversation is to take or to refuse */
  offered: Array<{ make: MakePrompt; take: () => void; refuse: (error: Error) => void }> = []
  readonly agent: Array<{ text: string; labels: string[] }> = []
  readonly written: string[] = []
  readonly attached: string[] = []
  /** what reached the host as a prompt: no crash may lose it */
  readonly safe = new Set<string>()
  refusals = 0

  constructor() {
    this.openWindow()
  }

  openWindow(): void {
    this.drafts = new KeptDrafts({ texts: this.texts, items: this.items })
    this.outbox = new Outbox({
      drafts: this.drafts,
      key: () => key,
      keyBefore: () => undefined,
      prompt: make =>
        new Promise<void>((resolve, reject) => this.offered.push({ make, take: resolve, refuse: reject })),
    })
    this.openPage()
  }

  /** A page with what its host tells it at first. One of before is told nothing any more. */
  openPage(): void {
    const { outbox, drafts } = this
    const toPage: Array<() => void> = []
    this.toPage = toPage
    const answer = (work: () => Promise<void>) =>
      new Promise<void>((resolve, reject) => {
        this.toHost.push(() => {
          work().then(
            () => toPage.push(resolve),
            error => toPage.push(() => reject(error)),
          )
        })
      })
    this.page = new Draft({
      saveText: (_key, text, marks) => void this.toHost.push(() => drafts.setText(key, text, marks)),
      takeBack: (_key, ids, draft) =>
        void this.toHost.push(() => {
          drafts.set(key, draft)
          outbox.takenBack(key, ids)
        }),
      saveItems: (_key, items) => void this.toHost.push(() => drafts.setItems(key, items)),
      send: (_key, prompt) => answer(() => this.#receive(prompt)),
      outcome: id => answer(() => outbox.outcome(id)),
    })
    this.page.onRefused = () => this.refusals++
    this.snapshot()
  }

  #receive(prompt: SentPrompt): Promise<void> {
    for (const word of [...wordsIn(prompt.draft.text), ...labelsIn([prompt.draft])]) this.safe.add(word)
    const { text } = prompt.draft
    const labels = labelsIn([prompt.draft])
    return this.outbox.send(key, prompt, async () => {
      this.agent.push({ text, labels })
      return []
    })
  }

  snapshot(): void {
    const waiting: WaitingPrompt[] = this.outbox.waiting(key)
    const saved = this.drafts.get(key)
    const { page } = this
    this.toPage.push(() => page.show(key, saved, waiting))
  }

  type(word: string): void {
    this.written.push(word)
    const { text, marks } = this.page.content.peek()
    this.page.write(`${text}${word} `, marks)
  }

  attach(label: string): void {
    this.attached.push(label)
    this.page.attach({ id: label, label, icon: 'file', content: { type: 'text', text: label } })
  }

  async take(): Promise<void> {
    const next = this.offered.shift()
    if (!next) return
    await next.make({ agentName: '', can: {} as never, roots: {} as never })
    next.take()
  }

  /** The page is made anew; what it had sent to its host arrives there. */
  async reloadPage(): Promise<void> {
    this.page.flush()
    for (const deliver of this.toHost.splice(0)) deliver()
    await settle()
    this.openPage()
  }

  /** Nobody is told anything: what is on disk is all there is. Gone is what was typed and had not come there. */
  crash(): void {
    mock.timers.reset()
    stopTime()
    this.toHost = []
    this.offered = []
    this.openWindow()
    const kept = new Set([
      ...this.agent.flatMap(({ text, labels }) => [...wordsIn(text), ...labels]),
      ...this.#onDisk(),
    ])
    for (const list of [this.written, this.attached]) {
      const left = list.filter(word => this.safe.has(word) || kept.has(word))
      list.splice(0, list.length, ...left)
    }
  }

  #onDisk(): string[] {
    const drafts = [this.drafts.get(key), ...this.outbox.waiting(key).map(({ draft }) => draft)]
    return [...drafts.flatMap(({ text }) => wordsIn(text)), ...labelsIn(drafts)]
  }

  /** All that is on its way arrives, and the agent takes what it is offered. */
  async rest(): Promise<void> {
    for (let quiet = 0; quiet < 3; ) {
      const due = this.toHost.length + this.toPage.length + this.offered.length
      for (const deliver of this.toHost.splice(0)) deliver()
      await settle()
      for (const deliver of this.toPage.splice(0)) {
        deliver()
        await settle()
      }
      await this.take()
      await settle()
      this.page.flush()
      quiet = due === 0 ? quiet + 1 : 0
    }
  }

  /** What the agent has and what stands in the composer is what was written: all of it, once, in its order. */
  check(): void {
    const { outgoing, content } = this.page
    const mine = [...outgoing.peek().map(({ draft }) => draft), content.peek()]
    const words = [...this.agent.map(({ text }) => text), ...mine.map(({ text }) => text)].flatMap(wordsIn)
    assert.deepEqual(words, this.written)
    const labels = [...this.agent.flatMap(one => one.labels), ...labelsIn(mine)]
    assert.deepEqual(labels.sort(), [...this.attached].sort())
  }
}

type Step =
  | 'type'
  | 'save'
  | 'time'
  | 'attach'
  | 'send'
  | 'toHost'
  | 'toPage'
  | 'take'
  | 'refuse'
  | 'snapshot'
  | 'reload'
  | 'crash'

async function play(steps: readonly Step[]): Promise<World> {
  const world = new World()
  await world.rest()
  let count = 0
  for (const step of steps) {
    if (step === 'type') world.type(`w${++count}`)
    else if (step === 'attach') world.attach(`w${++count}`)
    else if (step === 'save') world.page.flush()
    else if (step === 'time') mock.timers.tick(100)
    else if (step === 'send') world.page.send()
    else if (step === 'toHost') world.toHost.shift()?.()
    else if (step === 'toPage') world.toPage.shift()?.()
    else if (step === 'take') await world.take()
    else if (step === 'refuse') world.offered.shift()?.refuse(new Error('No.'))
    else if (step === 'snapshot') world.snapshot()
    else if (step === 'reload') await world.reloadPage()
    else world.crash()
    await settle()
    // a page writes only once it knows what it shows
    if (step === 'reload' || step === 'crash') {
      for (const deliver of world.toPage.splice(0)) deliver()
      await settle()
    }
  }
  await world.rest()
  world.drafts.dispose()
  return world
}

describe('sending', () => {
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

  beforeEach(stopTime)
  afterEach(() => mock.timers.reset())

  it('empties the composer at once, and keeps what is written meanwhile', async () => {
    const world = new World()
    await world.rest()
    world.type('w1')
    world.page.send()
    assert.equal(world.page.content.peek().text, '')
    world.type('w2')
    assert.equal(world.page.content.peek().text, 'w2 ')
    await world.rest()
    assert.deepEqual([world.agent.map(one => one.text), world.page.content.peek().text], [['w1 '], 'w2 '])
    world.drafts.dispose()
  })

  it('puts what was refused, and what was sent after it, before what is written meanwhile', async () => {
    const world = await play(['type', 'send', 'type', 'send', 'type', 'toHost', 'toHost', 'refuse'])
    assert.equal(world.page.content.peek().text, 'w1 \n\nw2 \n\nw3 ')
    assert.deepEqual([world.agent, world.refusals], [[], 1])
    world.page.send()
    await world.rest()
    assert.deepEqual(wordsIn(world.agent[0]!.text), ['w1', 'w2', 'w3'])
  })

  it('hands over none after one that is still on its way', async () => {
    const world = new World()
    await world.rest()
    for (const word of ['w1', 'w2']) {
      world.type(word)
      world.page.send()
    }
    for (const deliver of world.toHost.splice(0)) deliver()
    await settle()
    assert.equal(world.offered.length, 1)
    await world.rest()
    assert.deepEqual(
      world.agent.map(one => one.text),
      ['w1 ', 'w2 '],
    )
    world.drafts.dispose()
  })

  it('brings a refused prompt back once, also when a snapshot tells of it, too', async () => {
    const world = await play(['type', 'send', 'toHost', 'refuse', 'snapshot'])
    assert.equal(world.page.content.peek().text, 'w1 ')
  })

  it('brings back after a crash what was sent and not taken, and says so', async () => {
    const world = await play(['type', 'send', 'toHost', 'crash'])
    assert.equal(world.page.content.peek().text, 'w1 ')
    assert.deepEqual([world.agent, world.refusals], [[], 1])
  })

  it('takes a prompt of the queue back once, on disk in the draft that has it', async () => {
    const edited = async (first: (world: World) => void | Promise<void>) => {
      const world = new World()
      await world.rest()
      world.drafts.hold(key, { id: 'q', draft: { text: 'w1', marks: [], items: [] } })
      world.drafts.release('q')
      world.page.write('w2', [])
      await first(world)
      world.page.takeBack(key, { id: 'q', draft: { text: 'w1', marks: [], items: [] } })
      for (const deliver of world.toHost.splice(0)) deliver()
      world.crash()
      await world.rest()
      world.drafts.dispose()
      return world.page.content.peek().text
    }
    assert.equal(await edited(() => {}), 'w1\n\nw2')
    // a snapshot came first, and gave it back already
    const told = async (world: World) => {
      world.snapshot()
      for (const deliver of world.toPage.splice(0)) deliver()
    }
    assert.equal(await edited(told), 'w1\n\nw2')
    const world = new World()
    await world.rest()
    world.page.takeBack('agent/another', { id: 'q', draft: { text: 'w1', marks: [], items: [] } })
    assert.equal(world.page.content.peek().text, '')
    world.drafts.dispose()
  })

  it('loses no word, doubles none and keeps their order, whatever happens when', async () => {
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<Step>('type', 'send', 'toHost', 'toPage') },
      { weight: 4, arbitrary: fc.constantFrom<Step>('take', 'refuse', 'attach', 'save', 'time') },
      { weight: 2, arbitrary: fc.constantFrom<Step>('snapshot', 'reload', 'crash') },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async steps => {
        const world = await play(steps)
        world.check()
      }),
      { numRuns: 1000 },
    )
  }).timeout(60_000)
})
