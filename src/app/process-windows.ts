import type { NetworkSettings } from '../agents/environment.ts'
import { deferred } from '../common/async.ts'
import { type Disposable, Owner, toDisposable } from '../common/disposable.ts'
import { Emitter } from '../common/event.ts'
import type { SettingValue } from '../common/settings.ts'
import { settingOf, type WindowState, type Workbench } from './workbench.ts'

/** The settings that the process uses for all of its windows at once. */
const SHARED_SETTINGS = [
  'agentRegistry',
  'history.maximumAge',
  'history.maximumSize',
  'maximumFrameSize',
] as const
type SharedSetting = (typeof SHARED_SETTINGS)[number]

type Window = Pick<WindowState, 'network' | 'settingValues'> & Pick<Workbench, 'dialogs' | 'settings'>

/** The windows of the process, of which the last one that opened answers for all: for the settings that they share, and for the user. */
export class ProcessWindows extends Owner {
  readonly #open = new Set<Window>()
  /** stays when the last window closes, since what is left to do needs the settings */
  #last: Window | undefined
  /** the next window, while none is open */
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

  /** The default before the first window has opened. */
  readonly setting = <N extends SharedSetting>(name: N): SettingValue<N> =>
    settingOf({ settingValues: this.#last?.settingValues ?? {} }, name)

  onDidChangeSetting(name: SharedSetting, listener: () => void): Disposable {
    return this.#change.event(changed => {
      if (changed === name) listener()
    })
  }

  /** Tells the user something, in whichever window: in the next one that opens if none is open. Resolves to the chosen button. */
  async warn(text: string, ...buttons: string[]): Promise<string | undefined> {
    const window = [...this.#open].at(-1) ?? (await this.#next.promise)
    return window.dialogs.warn(text, ...buttons)
  }
}
