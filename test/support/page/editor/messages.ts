/** Notifications, progress, and quick inputs of `vscode.window`. */
import type { ShownInput, ShownNotification, ShownRow, WindowPage } from './shown.ts'
import {
  CancellationTokenSource,
  EventEmitter,
  ProgressLocation,
  QuickInputButtons,
  QuickPickItemKind,
} from './values.ts'

type Kind = ShownNotification['kind']
type Choice = string | { title: string; isCloseAffordance?: boolean }
type Token = CancellationTokenSource['token']

interface Item {
  label: string
  kind?: number
  description?: string
  detail?: string
  picked?: boolean
  buttons?: ReadonlyArray<{ tooltip?: string }>
}

interface PickOptions {
  title?: string
  placeHolder?: string
  canPickMany?: boolean
  matchOnDescription?: boolean
  matchOnDetail?: boolean
}

interface InputOptions {
  title?: string
  prompt?: string
  placeHolder?: string
  value?: string
  password?: boolean
  validateInput?: (value: string) => unknown
}

/** The notifications, and the dialogs that block the window. */
export class Notifications {
  readonly #page: WindowPage
  readonly #shown = new Map<number, { shown: ShownNotification; close: (button?: string) => void }>()
  #next = 0

  constructor(page: WindowPage) {
    this.#page = page
    page.add(() => ({ notifications: [...this.#shown.values()].map(({ shown }) => shown) }))
    page.onEvent(event => {
      if (event.type === 'notification') this.#shown.get(event.id)?.close(event.button)
    })
  }

  /** `showInformationMessage` and the like: resolves with the chosen button. */
  show(kind: Kind) {
    return (text: string, ...rest: Array<Choice | { modal?: boolean; detail?: string } | undefined>) => {
      const isOptions = (one: unknown) => typeof one === 'object' && one !== null && !('title' in one)
      const options = (isOptions(rest[0]) ? rest[0] : {}) as { modal?: boolean; detail?: string }
      const choices = rest.filter(one => one !== undefined && !isOptions(one)) as Choice[]
      const titleOf = (choice: Choice) => (typeof choice === 'string' ? choice : choice.title)
      const { modal: isModal = false, detail } = options
      return new Promise<Choice | undefined>(resolve => {
        this.#add({ kind, text, buttons: choices.map(titleOf), isModal, detail }, button =>
          resolve(choices.find(choice => titleOf(choice) === button)),
        )
      })
    }
  }

  withProgress = async <T>(
    options: { location: number | object; title?: string; cancellable?: boolean },
    task: (progress: { report(value: { message?: string }): void }, token: Token) => PromiseLike<T>,
  ): Promise<T> => {
    const source = new CancellationTokenSource()
    if (options.location !== ProgressLocation.Notification) return task({ report: () => {} }, source.token)
    const shown = {
      kind: 'progress' as const,
      text: options.title ?? '',
      buttons: options.cancellable ? ['Cancel'] : [],
      isModal: false,
    }
    const id = this.#add(shown, button => {
      if (button === 'Cancel') source.cancel()
    })
    const report = ({ message }: { message?: string }) => {
      const entry = this.#shown.get(id)
      if (entry && message !== undefined) entry.shown.text = `${options.title ?? ''}: ${message}`
      this.#page.update()
    }
    try {
      return await task({ report }, source.token)
    } finally {
      this.#shown.delete(id)
      this.#page.update()
    }
  }

  /** Closes all of them, like *Notifications: Clear All Notifications*. */
  clear(): void {
    for (const { shown, close } of [...this.#shown.values()]) if (shown.kind !== 'progress') close()
  }

  #add(shown: Omit<ShownNotification, 'id'>, close: (button?: string) => void): number {
    const id = ++this.#next
    this.#shown.set(id, {
      shown: { id, ...shown },
      close: button => {
        this.#shown.delete(id)
        this.#page.update()
        close(button)
      },
    })
    this.#page.update()
    return id
  }
}

/** The quick inputs, of which one is open at a time: another one closes it. */
export class QuickInputs {
  readonly #page: WindowPage
  #open: QuickInput | undefined
  #next = 0

  constructor(page: WindowPage) {
    this.#page = page
    page.add(() => (this.#open ? { input: this.#open.shown } : {}))
    page.onEvent(event => {
      const open = this.#open
      if (!open || !('id' in event) || event.id !== open.shown.id) return
      if (event.type === 'input') void open.type(event.value)
      else if (event.type === 'accept') void open.accept(event.value, event.picked)
      else if (event.type === 'itemButton') open.onItemButton?.(event.index, event.button)
      else if (event.type === 'cancel') {
        if (event.isBack) open.back()
        else open.hide()
      }
    })
  }

  show(input: QuickInput): void {
    if (this.#open !== input) this.#open?.hide()
    this.#open = input
    input.shows()
    this.#page.update()
  }

  hidden(input: QuickInput): void {
    if (this.#open === input) this.#open = undefined
    this.#page.update()
  }

  updated(): void {
    this.#page.update()
  }

  create(): QuickInput {
    return new QuickInput(this, ++this.#next)
  }

  showQuickPick = async (
    given: readonly (string | Item)[] | PromiseLike<readonly (string | Item)[]>,
    options: PickOptions = {},
    token?: Token,
  ): Promise<unknown> => {
    const input = this.create()
    Object.assign(input.shown, {
      title: options.title ?? '',
      placeholder: options.placeHolder ?? '',
      canPickMany: options.canPickMany ?? false,
      closesOnAccept: true,
      filters: {
        description: options.matchOnDescription ?? false,
        detail: options.matchOnDetail ?? false,
      },
      isBusy: true,
      rows: [],
    })
    const ended = input.ended(token)
    const items = await given
    input.shown.isBusy = false
    input.setItems(items.map(item => (typeof item === 'string' ? { label: item } : item)))
    const answer = await ended
    if (!answer) return undefined
    const chosen = answer.picked.map(index => items[index])
    return options.canPickMany ? chosen : chosen[0]
  }

  showInputBox = async (options: InputOptions = {}, token?: Token): Promise<string | undefined> => {
    const input = this.create()
    Object.assign(input.shown, {
      title: options.title ?? '',
      prompt: options.prompt ?? '',
      placeholder: options.placeHolder ?? '',
      value: options.value ?? '',
      isPassword: options.password ?? false,
    })
    input.validate = options.validateInput
    return (await input.ended(token))?.value
  }

  createQuickPick = () => {
    const input = this.create()
    input.shown.rows = []
    let items: readonly Item[] = []
    const accepted = new EventEmitter<void>()
    const hid = new EventEmitter<void>()
    const changed = new EventEmitter<string>()
    const pressed = new EventEmitter<unknown>()
    let selected: Item[] = []
    input.onAccept = ({ picked }) => {
      selected = picked.flatMap(index => items[index] ?? [])
      accepted.fire()
      return false
    }
    input.onBack = () => pressed.fire(QuickInputButtons.Back)
    const itemPressed = new EventEmitter<{ item: Item; button: unknown }>()
    input.onItemButton = (index, at) => {
      const item = items[index]
      if (item) itemPressed.fire({ item, button: item.buttons?.[at] })
    }
    input.onHide = () => hid.fire()
    input.onType = value => changed.fire(value)
    const { shown } = input
    const updated = () => this.updated()
    return {
      get items() {
        return items
      },
      set items(given: readonly Item[]) {
        items = given
        input.setItems(given)
      },
      get selectedItems() {
        return selected
      },
      get activeItems() {
        return selected
      },
      set activeItems([item]: readonly Item[]) {
        shown.marked = item && items.indexOf(item)
        updated()
      },
      set title(title: string) {
        shown.title = title
        updated()
      },
      set placeholder(text: string) {
        shown.placeholder = text
        updated()
      },
      set busy(isBusy: boolean) {
        shown.isBusy = isBusy
        updated()
      },
      set buttons(buttons: unknown[]) {
        shown.hasBack = buttons.includes(QuickInputButtons.Back)
        updated()
      },
      get value() {
        return shown.value
      },
      set matchOnDescription(isOn: boolean) {
        shown.filters.description = isOn
      },
      set matchOnDetail(isOn: boolean) {
        shown.filters.detail = isOn
      },
      set canSelectMany(isOn: boolean) {
        shown.canPickMany = isOn
      },
      onDidAccept: accepted.event,
      onDidHide: hid.event,
      onDidChangeValue: changed.event,
      onDidTriggerButton: pressed.event,
      onDidTriggerItemButton: itemPressed.event,
      show: () => this.show(input),
      hide: () => input.hide(),
      dispose: () => input.hide(),
    }
  }
}

interface Answer {
  value: string
  picked: number[]
}

class QuickInput {
  readonly shown: ShownInput
  validate: ((value: string) => unknown) | undefined
  /** Returns whether the input closes. */
  onAccept: ((answer: Answer) => boolean) | undefined
  onHide: (() => void) | undefined
  onBack: (() => void) | undefined
  onItemButton: ((index: number, button: number) => void) | undefined
  onType: ((value: string) => void) | undefined
  readonly #inputs: QuickInputs
  #isHidden = false

  constructor(inputs: QuickInputs, id: number) {
    this.#inputs = inputs
    this.shown = {
      id,
      title: '',
      placeholder: '',
      prompt: '',
      value: '',
      isPassword: false,
      isBusy: false,
      problem: '',
      canPickMany: false,
      closesOnAccept: false,
      hasBack: false,
      filters: { description: false, detail: false },
    }
  }

  /** Shows the input; resolves when the person accepts it, or with `undefined` when it closes. */
  ended(token?: Token): Promise<Answer | undefined> {
    return new Promise(resolve => {
      let answer: Answer | undefined
      this.onAccept = given => {
        answer = given
        return true
      }
      const following = token?.onCancellationRequested(() => this.hide())
      this.onHide = () => {
        following?.dispose()
        resolve(answer)
      }
      if (token?.isCancellationRequested) this.onHide()
      else this.#inputs.show(this)
    })
  }

  setItems(items: readonly Item[]): void {
    this.shown.rows = items.map(
      ({ label, kind, description, detail, picked, buttons = [] }, index): ShownRow => ({
        index,
        label,
        isSeparator: kind === QuickPickItemKind.Separator,
        isPicked: picked ?? false,
        buttons: buttons.map(({ tooltip = '' }) => tooltip),
        ...(description !== undefined && { description }),
        ...(detail !== undefined && { detail }),
      }),
    )
    this.#inputs.updated()
  }

  async type(value: string): Promise<void> {
    this.shown.value = value
    this.onType?.(value)
    await this.#check(value)
  }

  async accept(value: string, picked: number[]): Promise<void> {
    this.shown.value = value
    if (await this.#check(value)) return
    if (this.onAccept?.({ value, picked })) this.hide()
  }

  shows(): void {
    this.#isHidden = false
  }

  back(): void {
    this.onBack?.()
  }

  hide(): void {
    if (this.#isHidden) return
    this.#isHidden = true
    this.#inputs.hidden(this)
    this.onHide?.()
  }

  /** Returns whether the value is refused. */
  async #check(value: string): Promise<boolean> {
    const problem: unknown = await this.validate?.(value)
    const text =
      typeof problem === 'object' && problem !== null && 'message' in problem
        ? String(problem.message)
        : typeof problem === 'string'
          ? problem
          : ''
    if (text !== this.shown.problem) {
      this.shown.problem = text
      this.#inputs.updated()
    }
    return text !== ''
  }
}
