/** The types of the manifest's contributions to VS Code. `test/contributions/manifest.ts` builds the manifest from them. */
import type { SettingName } from '../common/settings.ts'

/** A place in a menu. VS Code sorts entries without an `@order` in the same group by title. */
export interface MenuPlace {
  /** the group's name, with the entry's order as `name@order` */
  group?: string
  /** a `when` clause */
  when?: string
}

type Icon = string | { light: string; dark: string }

/** The places of a command, by the ids of the menus. */
export type MenuPlaces = Readonly<Record<string, MenuPlace | readonly MenuPlace[]>>

export interface CommandContribution {
  title: string
  icon?: Icon
  /** `false`: the Command Palette doesn't show `Parley: ` before the title. */
  category?: false
  /** The `when` clause for the Command Palette. By default, the command is always there. `false`: never. */
  palette?: string | false
  /** The keyboard shortcuts. On macOS, Cmd replaces Ctrl. */
  keys?: ReadonlyArray<{ key: string; when?: string }>
  menus?: MenuPlaces
}

export interface SubmenuContribution {
  label: Text
  icon?: string
  menus: MenuPlaces
}

/** A text that is translated under its key in `package.nls.json`. */
export class Text {
  readonly key: string
  readonly english: string

  constructor(key: string, english: string) {
    this.key = key
    this.english = english
  }
}

export function text(key: string, english: string): Text {
  return new Text(key, english)
}

/** A group in the Settings editor. The names of its settings don't contain the prefix `parley.`. */
export interface SettingsGroup {
  title: Text
  settings: Readonly<Partial<Record<SettingName, object>>>
}
