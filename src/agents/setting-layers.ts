import type { Event } from '../common/event.ts'
import { isRecord } from '../common/is-record.ts'
import type { SettingName } from '../common/settings.ts'

/** The scope of a setting's value. `default` is the default in the extension's manifest. */
export type SettingScope = 'default' | 'user' | 'workspace' | 'folder'

/** The raw value of a setting in one scope. */
export interface SettingLayer {
  scope: SettingScope
  /** The workspace folder's name, for the scope `folder`. */
  folder?: string
  value: unknown
}

/** The settings for which the scope of a value matters. */
export const LAYERED_SETTINGS = [
  ...(['acceptEverything', 'agents', 'defaultAgent', 'editorTools', 'mcpDiscovery', 'mcpServers'] as const),
  ...(['permissionRules', 'sessionLimit', 'systemPrompt', 'worktrees.setupCommand'] as const),
] satisfies readonly SettingName[]

export type LayeredSetting = (typeof LAYERED_SETTINGS)[number]

/** Provides settings, such as VS Code's configuration. Keys don't contain the prefix `parley.`. */
export interface SettingsSource {
  /** Returns the scopes that have a value, in order of precedence: a later layer overrides an earlier one. */
  layers(key: LayeredSetting): readonly SettingLayer[]
  /** Fires when a setting under `parley.` may have changed. */
  readonly onDidChange: Event<void>
}

/** Returns the scope in which a change of a setting has an effect: the workspace if it has a value, or else the user settings. */
export function effectiveScope(settings: SettingsSource, key: LayeredSetting): 'user' | 'workspace' {
  return settings.layers(key).some(({ scope }) => scope === 'workspace') ? 'workspace' : 'user'
}

/**
 * Merges the layers as VS Code merges settings of type object: objects are merged key by key at every depth, and any other value is
 * replaced by the value of the later scope. A layer that isn't an object is ignored here; the caller must report it.
 */
export function mergeLayers(layers: readonly SettingLayer[]): Record<string, unknown> {
  let merged: Record<string, unknown> = Object.create(null)
  for (const layer of layers) {
    if (isRecord(layer.value)) merged = mergeObjects(merged, layer.value)
  }
  return merged
}

function mergeObjects(
  under: Record<string, unknown>,
  over: Record<string, unknown>,
): Record<string, unknown> {
  // The object has no prototype, so that `__proto__` is a key like any other.
  const merged: Record<string, unknown> = Object.create(null)
  for (const [key, value] of Object.entries(under)) merged[key] = value
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key]
    merged[key] = isRecord(before) && isRecord(value) ? mergeObjects(before, value) : value
  }
  return merged
}

/** Returns the last layer that contains a value at `path`, or else at the closest parent. */
export function layerOf(
  layers: readonly SettingLayer[],
  path: ReadonlyArray<string | number>,
): SettingLayer | undefined {
  for (let length = path.length; length >= 0; length--) {
    for (let at = layers.length - 1; at >= 0; at--) {
      const layer = layers[at]
      if (layer && has(layer.value, path.slice(0, length))) return layer
    }
  }
  return undefined
}

function has(value: unknown, path: ReadonlyArray<string | number>): boolean {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false
    at = (at as Record<string | number, unknown>)[key]
  }
  return at !== undefined
}

/** Returns the value at `path`, or `undefined`. */
export function valueAt(value: unknown, path: ReadonlyArray<PropertyKey>): unknown {
  let at = value
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<PropertyKey, unknown>)[key]
  }
  return at
}

/** Returns the object with this member set, or without the member if `value` is `undefined`; `undefined` if no member is left. */
export function withMember(
  object: unknown,
  key: string,
  value: unknown,
): Record<string, unknown> | undefined {
  // The member keeps its position, because agents are listed in the order of the settings.
  const whole = { ...(isRecord(object) ? object : {}), [key]: value }
  const all = Object.entries(whole).filter(([, one]) => one !== undefined)
  return all.length > 0 ? Object.fromEntries(all) : undefined
}
