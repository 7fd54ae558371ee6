import { SETTINGS, type SettingName } from '../../src/common/settings.ts'
import { commands } from '../../src/contributions/commands.ts'
import { type MenuPlaces, Text } from '../../src/contributions/contribution.ts'
import { settings } from '../../src/contributions/settings.ts'
import { submenus } from '../../src/contributions/submenus.ts'
import { views } from '../../src/contributions/views.ts'
import { walkthroughs } from '../../src/contributions/walkthroughs.ts'

/** `contributes` of package.json, and the English texts that it names by their keys in package.nls.json. */
export function readContributions(): { contributes: object; texts: Record<string, string> } {
  const texts: Record<string, string> = {}
  /** The reference to a text. Throws if another text has its key. */
  const refer = ({ key, english }: Text) => {
    if (texts[key] !== undefined && texts[key] !== english) throw new Error(`There are two texts for ${key}.`)
    texts[key] = english
    return `%${key}%`
  }
  const menus: Record<string, object[]> = {}
  const place = (entry: object, places: MenuPlaces = {}) => {
    for (const [menu, one] of Object.entries(places))
      menus[menu] = [
        ...(menus[menu] ?? []),
        ...[one]
          .flat()
          .map(({ when, group }) => ({ ...entry, ...(when && { when }), ...(group && { group }) })),
      ]
  }
  const keys = new Map<string, string>()
  const contributes = {
    ...(resolved(views, refer) as object),
    commands: Object.entries(commands).map(([command, { title, category, icon }]) => {
      // the buttons of the title bars have the titles of the commands for any conversation
      const key = keys.get(title) ?? command.replace('parley.', 'commands.')
      keys.set(title, key)
      return {
        command,
        title: refer(new Text(key, title)),
        ...(category !== false && { category: 'Parley' }),
        ...(icon && { icon }),
      }
    }),
    submenus: Object.entries(submenus).map(([id, { label, icon }]) => ({
      id,
      label: refer(label),
      ...(icon && { icon }),
    })),
    menus,
    keybindings: Object.entries(commands).flatMap(([command, { keys: own = [] }]) =>
      own.map(({ key, when }) => ({
        command,
        key,
        mac: key.replaceAll('ctrl+', 'cmd+'),
        ...(when && { when }),
      })),
    ),
    configuration: settings.map((group, i) => ({
      title: refer(group.title),
      order: i + 1,
      properties: Object.fromEntries(
        Object.entries(group.settings).map(([name, schema], at) => [
          `parley.${name}`,
          {
            ...(resolved(schema, refer) as object),
            scope: SETTINGS[name as SettingName].scope,
            default: SETTINGS[name as SettingName].default,
            order: at + 1,
          },
        ]),
      ),
    })),
    walkthroughs: resolved(walkthroughs, refer),
  }
  for (const [command, { palette, menus: places }] of Object.entries(commands)) {
    if (palette !== undefined)
      place({ command }, { commandPalette: { when: palette === false ? 'false' : palette } })
    place({ command }, places)
  }
  for (const [submenu, { menus: places }] of Object.entries(submenus)) place({ submenu }, places)
  return { contributes, texts }
}

/** The same with references in place of texts. */
function resolved(value: unknown, refer: (text: Text) => string): unknown {
  if (value instanceof Text) return refer(value)
  if (Array.isArray(value)) return value.map(one => resolved(one, refer))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, resolved(one, refer)]))
}
