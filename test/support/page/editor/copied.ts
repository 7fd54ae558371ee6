/**
 * A port behind which only copies and a few kinds of handles pass, as over a wire: what the extension host and a process of the
 * services' own will serve to each other. Whatever doesn't fit is written to `stderr`, for which a suite fails, and thrown.
 */

import type { Workbench } from '../../../../src/app/workbench.ts'

type Call = (...args: unknown[]) => unknown
type Item = Record<string, unknown>

/** The members that pass more than data. The others may get an `AbortSignal` and, as events, a listener. */
const HANDLES: Record<string, (run: Call, args: unknown[], path: string) => unknown> = {
  // a list of which the other side gets what is shown, and answers with positions
  'dialogs.pick': (run, [items, options], path) =>
    picked(run, items as Item[], { ...(options as Item) }, path),
  'dialogs.pickMany': (run, [items, options], path) =>
    picked(run, items as Item[], { ...(options as Item) }, path),
  'dialogs.createPicker': (run, _, path) => pickerOf(run() as Item, path),
  // a question back
  'dialogs.input': input,
  'dialogs.progress': progress,
  openTab: (run, [options], path) => tabOf(run(toWindow(options, path)) as Tab, path),
  'pages.showSideBar': (run, [view, page], path) =>
    run(copied(view as object, `${path}.view.`), pageOf(page as Page, path)),
  'pages.restoreTab': (run, [type, tab, state], path) =>
    run(type, tabOf(tab as Tab, path), plain(state, path)),
  features: async (run, _, path) => copied((await run()) as object, `${path}.`),
}

const EVENT = /^(.*\.)?(onDid\w+|follow\w*)$/

/** The values of the window, which are told again when one changes. */
const STATE = [
  ...(['isTrusted', 'language', 'folders', 'roots', 'settingValues', 'settingLayers'] as const),
  ...(['network', 'hiddenFiles', 'linkStart'] as const),
]

export function copiedWorkbench(workbench: Workbench): Workbench {
  const read = () => Object.fromEntries(STATE.map(name => [name, plain(workbench[name], name)]))
  let state = read()
  workbench.onDidChangeState(() => {
    state = read()
  })
  return new Proxy(copied(workbench), {
    get: (target, name) => (Object.hasOwn(state, name) ? state[name as string] : Reflect.get(target, name)),
  })
}

/** `port`, with a copy of all that its members get and return. */
export function copied<T extends object>(port: T, prefix = ''): T {
  const members = new Map<string, unknown>()
  return new Proxy(port, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      const path = `${prefix}${String(name)}`
      if (typeof name === 'symbol') return value
      if (typeof value !== 'function')
        return isPort(value) ? once(path, () => copied(value, `${path}.`)) : plain(value, path)
      return once(path, () => (...args: unknown[]) => {
        const run: Call = (...given) => Reflect.apply(value, target, given)
        const handle = HANDLES[path]
        if (handle) return handle(run, args, path)
        if (EVENT.test(path)) return fromWindow(run(...args.map(arg => toListener(arg, path))), path)
        return fromWindow(run(...args.map(arg => toWindow(arg, path))), path)
      })
    },
  })

  function once(path: string, create: () => unknown): unknown {
    if (!members.has(path)) members.set(path, create())
    return members.get(path)
  }
}

function isPort(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (Object.getPrototypeOf(value) !== Object.prototype) return true
  return Object.values(value).some(member => typeof member === 'function')
}

function toListener(arg: unknown, path: string): unknown {
  if (typeof arg !== 'function') return toWindow(arg, path)
  return (...given: unknown[]) => void (arg as Call)(...given.map(one => plain(one, path)))
}

function toWindow(arg: unknown, path: string): unknown {
  return arg instanceof AbortSignal ? following(arg) : plain(arg, path)
}

function fromWindow(result: unknown, path: string): unknown {
  if (typeof result !== 'object' || result === null) {
    if (result !== undefined) misfit(path, 'it returns a value, which takes a while')
    return result
  }
  if ('then' in result)
    return (result as Promise<unknown>).then(
      value => (isDisposable(value) ? handleOf(value, path) : plain(value, path)),
      (error: unknown) => {
        throw errorOf(error)
      },
    )
  if (isDisposable(result)) return handleOf(result, path)
  return misfit(path, 'it returns a value, which takes a while')
}

interface Handle {
  dispose(): void
}

function isDisposable(value: unknown): value is Handle {
  return (
    typeof value === 'object' && value !== null && 'dispose' in value && typeof value.dispose === 'function'
  )
}

function handleOf(handle: Handle, path: string): unknown {
  const data = Object.entries(handle).filter(([name]) => name !== 'dispose' && isPlainObject(handle))
  return { ...(plain(Object.fromEntries(data), path) as Item), dispose: () => handle.dispose() }
}

/** Of an error, its kind and message arrive. */
function errorOf(error: unknown): Error {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  return Object.assign(new Error(message), { name })
}

function following(signal: AbortSignal): AbortSignal {
  const own = new AbortController()
  if (signal.aborted) own.abort()
  else signal.addEventListener('abort', () => own.abort(), { once: true })
  return own.signal
}

// ---- lists --------------------------------------------------------------------------------------------------------------

const SHOWN = [
  'label',
  'description',
  'detail',
  'icon',
  'isSeparator',
  'alwaysShow',
  'picked',
  'buttons',
] as const

/** What is shown of items, and which item something shown is. */
function shownItems(path: string) {
  const originals = new Map<unknown, Item>()
  const shown = new Map<Item, Item>()
  return {
    show: (items: readonly Item[]) =>
      items.map(item => {
        const known = SHOWN.filter(name => item[name] !== undefined).map(name => [
          name,
          plain(item[name], path),
        ])
        const copy: Item = Object.fromEntries(known)
        originals.set(copy, item)
        shown.set(item, copy)
        return copy
      }),
    shownOf: (item: Item) => shown.get(item),
    of: (copy: unknown) => originals.get(copy),
    /** The button of an item at the same place. */
    button: (copy: Item, button: unknown) =>
      (originals.get(copy)?.buttons as unknown[])?.[(copy.buttons as unknown[]).indexOf(button)],
  }
}

async function picked(run: Call, items: Item[], { active, ...options }: Item, path: string) {
  const list = shownItems(path)
  const copies = list.show(items)
  const at = list.shownOf(active as Item)
  const chosen = await run(copies, { ...(plain(options, path) as Item), ...(at && { active: at }) })
  return Array.isArray(chosen) ? chosen.map(list.of) : list.of(chosen)
}

function pickerOf(picker: Item, path: string): unknown {
  const list = shownItems(path)
  const withItems = ['items', 'activeItems']
  let items: readonly Item[] = []
  const listeners: Record<string, (listener: Call) => Call> = {
    onDidAccept: listener => item => listener(list.of(item)),
    onDidPressButton: listener => (button, item) =>
      listener(list.button(item as Item, button), list.of(item)),
  }
  return new Proxy(picker, {
    get(target, name: string) {
      const value = Reflect.get(target, name, target)
      if (name === 'items') return items
      if (name === 'activeItems') return (value as unknown[]).map(list.of)
      if (typeof value !== 'function') return plain(value, path)
      return (...args: unknown[]) => {
        const own = listeners[name]
        return Reflect.apply(
          value,
          target,
          own ? [own(args[0] as Call)] : args.map(arg => toListener(arg, path)),
        )
      }
    },
    set(target, name: string, value: unknown) {
      if (name === 'items') items = value as Item[]
      const copy = !withItems.includes(name)
        ? plain(value, path)
        : name === 'items'
          ? list.show(value as Item[])
          : (value as Item[]).map(list.shownOf)
      return Reflect.set(target, name, copy, target)
    },
  })
}

// ---- questions, progress and tabs --------------------------------------------------------------------------------------------------

function input(run: Call, [options]: unknown[], path: string): unknown {
  const { validate, signal, ...shown } = options as Item
  const ask = async (value: unknown) => plain(await (validate as Call)(value), path)
  const passed = {
    ...(plain(shown, path) as Item),
    ...(signal !== undefined && { signal: toWindow(signal, path) }),
    ...(validate !== undefined && { validate: ask }),
  }
  return fromWindow(run(passed), path)
}

async function progress(run: Call, [options, work]: unknown[], path: string) {
  let outcome: unknown
  await run(plain(options, path), async (report: Call, signal: AbortSignal) => {
    outcome = await (work as Call)((step: unknown) => report(plain(step, path)), following(signal))
  })
  return outcome
}

interface Page {
  listen(listener: Call): Handle
  post(message: unknown): PromiseLike<boolean>
}

interface Tab {
  panel: object
  state: unknown
  page: Page
}

/** Its page's messages, and what the window tells of the tab. */
function tabOf({ panel, state, page }: Tab, path: string): Tab {
  return { panel: copied(panel, `${path}.panel.`), state: plain(state, path), page: pageOf(page, path) }
}

function pageOf(page: Page, path: string): Page {
  return {
    listen: listener => page.listen(message => listener(plain(message, path))),
    post: message => page.post(plain(message, path)),
  }
}

// ---- data ---------------------------------------------------------------------------------------------------------------

function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** A copy of plain data. */
function plain(value: unknown, path: string): unknown {
  if (value === null || ['undefined', 'boolean', 'number', 'string'].includes(typeof value)) return value
  if (value instanceof Uint8Array) return Uint8Array.from(value)
  if (Array.isArray(value)) return value.map(one => plain(one, path))
  if (typeof value === 'object' && isPlainObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, plain(one, `${path}.${name}`)]),
    )
  const kind = typeof value === 'object' ? value.constructor?.name : typeof value
  return misfit(path, `${kind} isn't data`)
}

function misfit(path: string, why: string): never {
  const error = new Error(`Can't pass ${path}: ${why}`)
  process.stderr.write(`${error.stack}\n`)
  throw error
}
