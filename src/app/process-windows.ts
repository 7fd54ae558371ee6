import type { NetworkSettings } from '../agents/environment.ts'
import { deferred } from '../common/async.ts'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import type { SettingValue } from '../common/settings.ts'
import { settingOf, type WindowState, type Workbench } from './workbench.ts'

/** The settings that have one value for all windows of the process. */
const SHARED_SETTINGS = [
  'agentRegistry',
  'history.maximumAge',
  'history.maximumSize',
  'maximumFrameSize',
] as const
type SharedSetting = (typeof SHARED_SETTINGS)[number]

type Window = Pick<WindowState, 'network' | 'settingValues'> & Pick<Workbench, 'dialogs' | 'settings'>

/** The windows of the process. The window that opened last provides the shared settings and shows messages to the user. */
export class ProcessWindows extends Owner {
  readonly #open = new Set<Window>()
  /** the window that opened last; kept when it closes, since remaining work needs its settings */
  #last: Window | undefined
  /** resolves to the next window; used while no window is open */
  #next = deferred<Window>()
  readonly #change = this.register(new Emitter<SharedSetting>())

  add(window: Window): Disposable {
    this.#open.add(window)
    this.#last = window
    this.#next.resolve(window)
    const following = SHARED_SETTINGS.map(name =>
      window.settings.onDidChange(name, () => this.#change.fire(name)),
    )
    return toDisposable(() => {
      for (const one of following) one.dispose()
      this.#open.delete(window)
      if (this.#open.size === 0) this.#next = deferred()
      else this.#last = [...this.#open].at(-1)
    })
  }

  /** The editor's own network settings. */
  readonly network = (): NetworkSettings => this.#last?.network ?? {}

  /** Returns the value of a shared setting; its default before the first window has opened. */
  readonly setting = <N extends SharedSetting>(name: N): SettingValue<N> =>
    settingOf({ settingValues: this.#last?.settingValues ?? {} }, name)

  onDidChangeSetting(name: SharedSetting, listener: () => void): Disposable {
    return this.#change.event(changed => {
      if (changed === name) listener()
    })
  }

  /** Shows a warning in the window that opened last, or in the next window if none is open. Resolves to the chosen button. */
  async warn(text: string, ...buttons: string[]): Promise<string | undefined> {
    const window = [...this.#open].at(-1) ?? (await this.#next.promise)
    return window.dialogs.warn(text, ...buttons)
  }
}
