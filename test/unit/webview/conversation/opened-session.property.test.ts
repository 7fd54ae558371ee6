import assert from 'node:assert/strict'
import { mock } from 'node:test'
import fc from 'fast-check'
import { composerHandlers } from '../../../../src/app/conversation/composer-handlers.ts'
import { EditedPrompts } from '../../../../src/app/conversation/edited-prompts.ts'
import { PatchPump } from '../../../../src/app/conversation/patch-pump.ts'
import type { ConversationHead, ConversationSnapshot } from '../../../../src/bridge/conversation.ts'
import { EMPTY_DRAFT } from '../../../../src/common/draft.ts'
import type { SessionReference } from '../../../../src/sessions/open-session.ts'
import { Draft } from '../../../../src/webview/conversation/composer/draft.ts'
import { SessionsFixture } from '../../sessions/sessions-fixture.ts'

const LONG: SessionReference = { agentId: 'one', sessionId: 'long', cwd: '/w/a' }
const SHORT: SessionReference = { agentId: 'two', sessionId: 'short', cwd: '/w/a' }
/** More entries than the end of a conversation has that is shown before the others are read. */
const COUNT = 500

const settle = async () => {
  for (let turns = 0; turns < 5; turns++) await new Promise<void>(resolve => setImmediate(resolve))
}
const wordsIn = (text: string): string[] => text.match(/w\d+/g) ?? []

/** A window with one conversation view: its page, its host, and the messages between them, each of which the test delivers. */
class World {
  readonly fixture = new SessionsFixture()
  /** the conversation that the page showed when the word was typed */
  readonly written = new Map<string, string>()
  /** what agents received, with the key of its session */
  readonly received: Array<{ word: string; key: string }> = []
  readonly #toHost: Array<() => void> = []
  readonly #toPage: Array<() => void> = []
  readonly #handlers: ReturnType<typeof composerHandlers>
  readonly #pump: PatchPump
  readonly #page: Draft
  #key = ''
  #shown: ConversationHead | undefined
  #sessions = 0

  constructor() {
    const { fixture } = this
    const { controller, drafts } = fixture
    fixture.prepare = agent => {
      const prompt = agent.prompt.bind(agent)
      agent.prompt = (sessionId, content) => {
        const { agentId } = fixture.started.find(one => one.agent === agent)!
        for (const block of content)
          for (const word of block.type === 'text' ? wordsIn(block.text) : [])
            this.received.push({ word, key: `${agentId}/${sessionId}` })
        return prompt(sessionId, content)
      }
    }
    for (const [{ agentId, sessionId }, count] of [
      [LONG, COUNT],
      [SHORT, 3],
    ] as const)
      fixture.transcripts.write(agentId, sessionId, {
        replace: true,
        entries: Array.from({ length: count }, (_, position) => ({
          position,
          entry: {
            ...{ kind: 'message' as const, id: `e${position}`, turn: 1 + position },
            role: 'user' as const,
            blocks: [{ type: 'text' as const, text: `Prompt ${position}` }],
          },
        })),
        terminals: [],
      })
    this.#handlers = composerHandlers(
      {
        controller,
        drafts,
        comments: { reveal() {}, promptRemoved() {} },
        optionMemory: {},
        changes: { decisions: { tell() {} } },
        workbench: { context: { sources: {} }, execute: async () => undefined },
      } as unknown as Parameters<typeof composerHandlers>[0],
      {
        show: () => this.#pump.sendNow(),
        showAgain: () => this.#pump.reset(),
        edits: new EditedPrompts(drafts, controller),
      },
    )
    this.#page = new Draft({
      saveText: (key, text, chips) =>
        this.#ask(() => this.#handlers['conversation/draft']({ key, text, chips })),
      saveItems: (key, items) => this.#post(() => this.#handlers['conversation/draftItems']({ key, items })),
      movedToComposer: (key, ids, draft) =>
        this.#ask(() => this.#handlers['conversation/movedToComposer']({ key, ids, draft })),
      enqueue: (key, prompt) => this.#ask(() => this.#handlers['conversation/enqueue']({ key, ...prompt })),
    })
    this.#pump = new PatchPump({
      session: () => controller.current?.session,
      end: () => controller.opener.end?.conversation,
      head: () => ({ key: controller.key, keyBefore: controller.keyBefore }) as ConversationHead,
      running: () => undefined,
      draft: () => drafts.get(controller.key),
      composerHeight: () => undefined,
      returned: () => [...controller.prompts.queue.returned],
      sendSnapshot: snapshot => void this.#toPage.push(() => this.#show(snapshot)),
      sendPatch: ({ ops }) =>
        void this.#toPage.push(() => {
          for (const op of ops) if (op.op === 'head') Object.assign(this.#shown!, op.head)
        }),
      sendReturned: prompts => {
        const { key } = controller
        this.#toPage.push(() => this.#page.returned(key, prompts))
      },
    })
    controller.onDidChange(() => this.#pump.headChanged())
    controller.onDidChangeQueue(() => this.#pump.headChanged())
    controller.onDidSwitch(() => this.#pump.reset())
    this.#pump.begin()
  }

  get controller() {
    return this.fixture.controller
  }

  /** A message that the host answers. */
  #ask(deliver: () => void | Promise<void>): Promise<void> {
    return new Promise(resolve => {
      this.#post(async () => {
        await deliver()
        this.#toPage.push(resolve)
      })
    })
  }

  #post(deliver: () => unknown): void {
    this.#toHost.push(() => void deliver())
  }

  #show({ head, draft, returned, more }: ConversationSnapshot): void {
    this.#key = head.key
    this.#shown = { ...head }
    this.#page.show(head.key, draft, returned, head.keyBefore)
    if (more)
      this.#post(() => head.key === this.controller.key && this.controller.opener.end?.drawn.resolve())
  }

  type(): void {
    if (this.#key === '') return
    const word = `w${this.written.size + 1}`
    this.written.set(word, this.#key)
    const { text, chips } = this.#page.content.peek()
    this.#page.write(`${text}${word} `, chips)
  }

  enter(): void {
    if (this.#key !== '') this.#page.send()
  }

  toHost(): void {
    this.#toHost.shift()?.()
  }

  toPage(): void {
    this.#toPage.shift()?.()
  }

  answer(isRefused = false): void {
    for (const { agent } of this.fixture.started)
      for (const list of [agent.newSessions, agent.loads, agent.resumes]) {
        const start = list.shift()
        if (isRefused) start?.reject(new Error('No.'))
        else start?.resolve({ sessionId: `s${++this.#sessions}` })
      }
  }

  endTurns(): void {
    for (const { agent } of this.fixture.started)
      for (const call of agent.prompts.splice(0)) agent.endTurn(call)
  }

  async rest(): Promise<void> {
    for (let round = 0; round < 30; round++) {
      mock.timers.tick(400)
      await settle()
      while (this.#toHost.length + this.#toPage.length > 0) {
        this.toHost()
        this.toPage()
        await settle()
      }
      this.answer()
      this.endTurns()
      await settle()
    }
  }

  /**
   * Every word is with the conversation that it was written for: sent once, or in its queue or its draft. In both, if the page
   * took it back while its conversation was started and left.
   */
  check(): void {
    const { drafts, queues } = this.fixture
    for (const [word, key] of this.written) {
      const has = ({ text }: { text: string }) => wordsIn(text).includes(word)
      const sent = this.received.filter(one => one.word === word).map(one => one.key)
      const kept = ['new', ...drafts.keys()].filter(
        one => has(drafts.get(one)) || queues.of(one).prompts.some(({ draft }) => has(draft)),
      )
      const places = [...sent, ...new Set(kept)]
      const isRight = (one: string) => one === key || (key === 'new' && /\/s\d+$/.test(one))
      assert.ok(
        places.length > 0 &&
          places.every(isRight) &&
          sent.length <= 1 &&
          (sent.length === 0 || kept.length === 0),
        `${word}, written for ${key}, was sent to ${sent} and is in ${kept}`,
      )
    }
  }
}

const ignore = (opening: Promise<void>) => void opening.catch(() => {})
const steps = {
  type: world => world.type(),
  enter: world => world.enter(),
  toHost: world => world.toHost(),
  toPage: world => world.toPage(),
  frame: () => mock.timers.tick(20),
  wait: () => mock.timers.tick(400),
  openLong: ({ controller }) => ignore(controller.opener.reopen('load', LONG)),
  resumeLong: ({ controller }) => ignore(controller.opener.reopen('restore', LONG)),
  openWhole: ({ controller }) => ignore(controller.opener.reopen('load', LONG, true)),
  openShort: ({ controller }) => ignore(controller.opener.reopen('load', SHORT)),
  start: ({ controller }) => ignore(controller.opener.start()),
  startTwo: ({ controller }) => ignore(controller.opener.start('two')),
  answer: world => world.answer(),
  refuse: world => world.answer(true),
  endTurns: world => world.endTurns(),
  cancel: ({ controller }) => controller.cancel(),
  leave: ({ controller }) => controller.leave(),
  showOpen: ({ controller, fixture }) => {
    const open = fixture.manager.list()[0]
    if (open) controller.show(open)
  },
  exit: ({ fixture }) => fixture.started.at(-1)?.agent.exit(),
  restart: ({ controller }) => ignore(controller.opener.restart()),
  forget: ({ fixture }) => fixture.transcripts.forget(LONG.agentId, LONG.sessionId),
} satisfies Record<string, (world: World) => unknown>
type Step = keyof typeof steps

async function play(names: readonly Step[]): Promise<void> {
  mock.timers.enable({ apis: ['setTimeout'] })
  try {
    const world = new World()
    for (const name of names) {
      await steps[name](world)
      await settle()
    }
    await world.rest()
    world.check()
  } finally {
    mock.timers.reset()
  }
}

describe('what is written while a session is opened by its end', () => {
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

  it('is sent to this session, or stays in its queue or composer, at whatever moment it is written', async () => {
    const often: Step[] = ['type', 'enter', 'toHost', 'toPage', 'frame', 'wait', 'openLong', 'answer']
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...often) },
      { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(steps) as Step[])) },
    )
    await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), play))
  })

  it('is kept if the user comes back before the host has it', () => {
    const page = new Draft({
      saveText: () => new Promise(() => {}),
      saveItems() {},
      enqueue: async () => {},
      movedToComposer: async () => {},
    })
    page.show('one', EMPTY_DRAFT)
    page.write('w1', [])
    page.show('two', EMPTY_DRAFT)
    assert.equal(page.content.peek().text, '')
    page.show('one', EMPTY_DRAFT)
    assert.equal(page.content.peek().text, 'w1')
  })

  it('returns to the composer of its conversation if the host cannot take it, although another one is shown', async () => {
    const page = new Draft({
      saveText: async () => {},
      saveItems() {},
      enqueue: async () => {
        throw new Error('No.')
      },
      movedToComposer: async () => {},
    })
    page.show('one', EMPTY_DRAFT)
    page.write('w1', [])
    page.send()
    page.show('two', EMPTY_DRAFT)
    await settle()
    assert.equal(page.content.peek().text, '')
    page.show('one', EMPTY_DRAFT)
    assert.equal(page.content.peek().text, 'w1')
  })

  it('is in the composer once if the host cannot take it, but has it as the draft from before', async () => {
    const page = new Draft({
      saveText: async () => {},
      saveItems() {},
      enqueue: async () => {
        throw new Error('No.')
      },
      movedToComposer: async () => {},
    })
    page.show('one', EMPTY_DRAFT)
    page.write('w1', [])
    page.flush()
    page.send()
    page.show('two', EMPTY_DRAFT)
    await settle()
    page.show('one', { ...EMPTY_DRAFT, text: 'w1' })
    assert.equal(page.content.peek().text, 'w1')
  })

  it('is not in the composer again if the user comes back before the host has the prompt', async () => {
    const page = new Draft({
      saveText: async () => {},
      saveItems() {},
      enqueue: () => new Promise(() => {}),
      movedToComposer: async () => {},
    })
    page.show('one', EMPTY_DRAFT)
    page.write('w1', [])
    page.flush()
    page.send()
    page.show('two', EMPTY_DRAFT)
    page.show('one', { ...EMPTY_DRAFT, text: 'w1' })
    assert.equal(page.content.peek().text, '')
  })
})
