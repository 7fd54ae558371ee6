import { isDeepStrictEqual } from 'node:util'
import type { Trust } from '../agents/agent-catalog.ts'
import type { SettingsSource } from '../agents/setting-layers.ts'
import type { Event } from '../common/event.ts'
import type { WindowState, Workbench } from './workbench.ts'

type Window = WindowState & Pick<Workbench, 'onDidChangeState'>

/** Returns an event that fires when the part of the window's state that `pick` returns has changed. */
export function onDidChangeIn(window: Window, pick: (state: WindowState) => unknown): Event<void> {
  return listener => {
    let before = pick(window)
    return window.onDidChangeState(() => {
      const now = pick(window)
      if (isSame(now, before)) return
      before = now
      listener()
    })
  }
}

function isSame(now: unknown, before: unknown): boolean {
  try {
    return isDeepStrictEqual(now, before)
  } catch {
    // the value of a setting is nested too deeply to be compared
    return false
  }
}

/** Returns the settings of a window, which depend on its folders and its trust; empty before the window has reported them. */
export function windowSettings(window: Window): SettingsSource {
  return {
    layers: key => window.settingLayers?.[key] ?? [],
    onDidChange: onDidChangeIn(window, ({ settingValues, settingLayers, folders, roots, isTrusted }) => [
      ...[settingValues, settingLayers, folders, roots, isTrusted],
    ]),
  }
}

/** Returns the trust of a window, which isn't trusted until it says so. */
export function windowTrust(window: Window): Trust {
  return {
    get trusted() {
      return window.isTrusted === true
    },
    onDidChange: onDidChangeIn(window, ({ isTrusted }) => isTrusted),
  }
}
