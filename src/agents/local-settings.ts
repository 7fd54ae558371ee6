import { isRecord } from '../common/is-record.ts'
import { SETTING_NAMES, SETTINGS, type SettingName } from '../common/settings.ts'
import { settingPath } from './setting-problem.ts'

/** The extension's global state, which outlives the window and is shared by local and remote windows. */
interface SharedState {
  get<T>(key: string): T | undefined
  set(key: string, value: unknown): void
}

export interface LocalSettingsOptions {
  state: SharedState
  /** The name of a remote window's machine; `undefined` in a local window. */
  remote: string | undefined
  /** Returns the value in the user settings that apply in this window. */
  userValue: (name: SettingName) => unknown
}

const LOCAL = 'localMachineSettings'
const NOTICED = 'toldOfLocalSettings'
/** The maximum number of remembered machines. Containers get a new name each time they're built. */
const MAX_NOTICED = 50

/**
 * Returns the machine settings that the user has set locally but not on this remote machine, once for each machine; later calls return
 * none. A remote window can't see local values of such settings, so each local window stores the settings' names, without values, and this
 * function compares them.
 */
export function missingLocalSettings({ state, remote, userValue }: LocalSettingsOptions): string[] {
  const here = namesIn(userValue)
  if (remote === undefined) {
    const before = strings(state.get(LOCAL))
    if (JSON.stringify(before) !== JSON.stringify(here)) state.set(LOCAL, here)
    return []
  }
  const noticed = strings(state.get(NOTICED))
  if (noticed.includes(remote)) return []
  const missing = strings(state.get(LOCAL)).filter(name => !here.includes(name))
  if (missing.length > 0) state.set(NOTICED, [...noticed, remote].slice(-MAX_NOTICED))
  return missing
}

/** Returns the names of the settings that have a value; for `parley.agents`, a name for each agent, such as `parley.agents › claude`. */
function namesIn(userValue: (name: SettingName) => unknown): string[] {
  return SETTING_NAMES.filter(name => SETTINGS[name].scope === 'machine-overridable').flatMap(name => {
    const value = userValue(name)
    if (value === undefined) return []
    const setting = `parley.${name}`
    return name === 'agents' && isRecord(value)
      ? Object.keys(value).map(id => settingPath(setting, [id]))
      : [setting]
  })
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
