/** The types of the manifest's contributions to VS Code. See `test/contributions/manifest.ts`. */
import type { SettingName } from '../common/settings.ts'

/** A place in a menu. Where several entries have no `@order` in their group, VS Code sorts them by title. */
export interface MenuPlace {
  /** `name@order` */
  group?: string
  /** a `when` clause */
  when?: string
}

type Icon = string | { light: string; dark: string }

/** By the id of the menu. */
export type MenuPlaces = Readonly<Record<string, MenuPlace | readonly MenuPlace[]>>

export interface CommandContribution {
  title: string
  icon?: Icon
  /** `false`: the palette doesn't show `Parley: ` before the title. */
  category?: false
  /** When the palette contains the command; by default always. `false`: never. */
  palette?: string | false
  /** On macOS with Cmd in place of Ctrl. */
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

/** A group in the Settings editor; the names of its settings are without `parley.`. */
export interface SettingsGroup {
  title: Text
  settings: Readonly<Partial<Record<SettingName, object>>>
}
