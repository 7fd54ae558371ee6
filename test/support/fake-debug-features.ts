import { Emitter } from '../../src/common/event.ts'
import type {
  DebugFeatures,
  DebugSessionState,
  DebugState,
  DebugStep,
  LaunchConfiguration,
  LaunchEntry,
  SourceBreakpoint,
} from '../../src/mcp/server/debug-features.ts'

interface FakeSession extends DebugSessionState {
  output: string
}

/** A debugger of a program with one thread, which is paused at each of `lines` in turn and then ends. */
export class FakeDebugFeatures implements DebugFeatures {
  readonly #change = new Emitter<DebugState>()
  readonly onDidChange = this.#change.event
  readonly all: FakeSession[] = []
  launch: LaunchConfiguration[] = []
  points: SourceBreakpoint[] = []
  path = ''
  lines = [3, 4]
  /** Otherwise it runs until it's stopped. */
  pauses = true
  threads = [{ id: 1, name: 'main' }]
  /** variables of the program, besides those that it always has */
  locals: Array<Record<string, unknown>> = []
  /** what a start waits for, such as a task that runs before it */
  beforeStart: Promise<void> | undefined
  stepped: number[] = []
  readonly requests: string[] = []
  #line = 0

  async state(): Promise<DebugState> {
    return this.#now()
  }

  async output(session: string): Promise<string> {
    return this.all.find(({ id }) => id === session)?.output ?? ''
  }

  async request(session: string, command: string, args: Record<string, unknown> = {}): Promise<unknown> {
    this.requests.push(command)
    const isPaused = (this.all.find(({ id }) => id === session)?.paused ?? []).length > 0
    if (command === 'threads') return { threads: this.threads }
    if (!isPaused) throw new Error('Thread is not paused')
    switch (command) {
      case 'stackTrace':
        return {
          stackFrames: [
            { id: 10, name: 'add', source: { path: this.path }, line: this.lines[this.#line], column: 5 },
            { id: 11, name: 'internal', source: { name: 'node:internal' }, line: 1, column: 1 },
          ],
        }
      case 'scopes':
        return {
          scopes: [
            { name: 'Local', variablesReference: 100, expensive: false },
            { name: 'Global', variablesReference: 101, expensive: true },
          ],
        }
      case 'variables':
        return {
          variables:
            args.variablesReference === 100
              ? [
                  { name: 'a', value: '1', type: 'number', variablesReference: 0 },
                  { name: 'user', value: 'Object', type: 'Object', variablesReference: 102 },
                  ...this.locals,
                ]
              : [{ name: 'name', value: "'Ada'", type: 'string', variablesReference: 0 }],
        }
      case 'evaluate':
        if (args.expression === 'wrong') throw new Error('wrong is not defined')
        return { result: `${String(args.expression)} in ${String(args.frameId)}`, variablesReference: 0 }
      default:
        throw new Error(`unknown: ${command}`)
    }
  }

  async configurations(): Promise<LaunchEntry[]> {
    return this.launch.map(({ name, folder }) => ({ name, ...(folder !== undefined && { folder }) }))
  }

  async describe({ name, folder }: LaunchEntry): Promise<LaunchConfiguration> {
    return this.launch.find(one => one.name === name && one.folder === folder)!
  }

  async start({ name }: LaunchConfiguration): Promise<boolean> {
    await this.beforeStart
    this.#line = 0
    this.all.push({ id: `s${this.all.length + 1}`, name, type: 'node', paused: [], output: '' })
    if (this.pauses) setTimeout(() => this.#go(), 5)
    return true
  }

  async stop(id: string): Promise<void> {
    this.#set(id, { hasEnded: true, paused: [] })
  }

  async step(_step: DebugStep, id: string, thread: number): Promise<void> {
    this.stepped.push(thread)
    this.#set(id, { paused: [] })
    this.#line += 1
    setTimeout(() => this.#go(), 5)
  }

  async breakpoints(): Promise<SourceBreakpoint[]> {
    return this.points
  }

  async setBreakpoint(breakpoint: SourceBreakpoint): Promise<void> {
    this.points.push(breakpoint)
  }

  async removeBreakpoints(path: string, line: number): Promise<number> {
    const before = this.points.length
    this.points = this.points.filter(one => one.path !== path || one.line !== line)
    return before - this.points.length
  }

  /** The program pauses at its next line, or ends. */
  #go(): void {
    const { id } = this.all.at(-1)!
    if (this.lines[this.#line] !== undefined)
      this.#set(id, { paused: [{ thread: 1, reason: 'breakpoint' }], output: 'said\n' })
    else this.#set(id, { paused: [], hasEnded: true, exitCode: 0 })
  }

  #now(): DebugState {
    const session = this.all.findLast(({ hasEnded }) => !hasEnded)
    return {
      sessions: this.all.map(({ output, ...one }) => one),
      ...(session && { active: { session: session.id, thread: 1 } }),
    }
  }

  #set(id: string, change: Partial<FakeSession>): void {
    const at = this.all.findIndex(one => one.id === id)
    this.all[at] = { ...this.all[at]!, ...change }
    this.#change.fire(this.#now())
  }
}
