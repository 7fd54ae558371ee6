import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import type { ConfigOption } from '../../acp/model.ts'
import { DisposableStore } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { sectionsOf } from '../../common/option-sections.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId } from '../ids.ts'
import type { OptionMemory } from '../storage/option-memory.ts'
import { registerCommand } from './register-command.ts'

interface OptionCommandParts {
  surfaces: ConversationSurfaces
  memory: OptionMemory
  log: Logger
}

type SelectOption = Extract<ConfigOption, { type: 'select' }>
type Item = vscode.QuickPickItem & { value?: string }

/** *Change Mode…* and *Change Model…* for the conversation that the person works in. */
export function registerOptionCommands(parts: OptionCommandParts): vscode.Disposable {
  const registered = new DisposableStore()
  const on = (id: string, category: string, none: (agent: string) => string) =>
    registered.add(registerCommand(parts.log, id, () => change(parts, category, none)))
  on(CommandId.changeMode, 'mode', agent => l10n.t('{0} has no modes to choose from.', agent))
  on(CommandId.changeModel, 'model', agent => l10n.t('{0} has no models to choose from.', agent))
  return registered
}

async function change(
  { surfaces, memory }: OptionCommandParts,
  category: string,
  none: (agent: string) => string,
): Promise<void> {
  const { controller } = surfaces.active
  const { current, agentId } = controller
  if (!current || agentId === undefined) {
    void vscode.window.showInformationMessage(l10n.t('Begin a session first.'))
    return
  }
  const option = current.session.state.configOptions.find(
    (one): one is SelectOption => one.type === 'select' && one.category === category,
  )
  if (!option) {
    void vscode.window.showInformationMessage(none(current.agentName))
    return
  }
  const value = await pick(option, agentId, memory)
  if (value === undefined || value === option.currentValue || controller.current !== current) return
  memory.used(agentId, option.id, value)
  await controller.setConfigOption(option.id, value)
}

/** What the person chooses, the ones they marked first; a star in a line marks it. */
function pick(option: SelectOption, agentId: string, memory: OptionMemory): Promise<string | undefined> {
  const box = vscode.window.createQuickPick<Item>()
  box.title = option.name
  box.placeholder = option.description
  box.matchOnDescription = true
  box.matchOnDetail = true
  const fill = () => {
    const remembered = memory.of(agentId)[option.id]
    const marked = new Set(remembered?.favourites)
    box.items = sectionsOf(option.choices, remembered).flatMap(({ section, choices }): Item[] => [
      ...(section === undefined
        ? []
        : [{ label: headingOf(section), kind: vscode.QuickPickItemKind.Separator }]),
      ...choices.map(choice => ({
        label: choice.name,
        detail: choice.description,
        description: choice.value === option.currentValue ? l10n.t('current') : undefined,
        value: choice.value,
        buttons: [
          marked.has(choice.value)
            ? { iconPath: new vscode.ThemeIcon('star-full'), tooltip: l10n.t('Remove from favourites') }
            : { iconPath: new vscode.ThemeIcon('star-empty'), tooltip: l10n.t('Add to favourites') },
        ],
      })),
    ])
  }
  fill()
  box.activeItems = box.items.filter(item => item.value === option.currentValue).slice(0, 1)
  return new Promise(resolve => {
    box.onDidTriggerItemButton(({ item }) => {
      if (item.value !== undefined) memory.toggle(agentId, option.id, item.value)
      fill()
      box.activeItems = box.items.filter(one => one.value === item.value).slice(0, 1)
    })
    box.onDidAccept(() => {
      resolve(box.selectedItems[0]?.value)
      box.hide()
    })
    box.onDidHide(() => {
      resolve(undefined)
      box.dispose()
    })
    box.show()
  })
}

function headingOf(section: string | { group: string }): string {
  if (typeof section === 'object') return section.group
  return section === 'favourites'
    ? l10n.t('Favourites')
    : section === 'recent'
      ? l10n.t('Recently used')
      : l10n.t('All')
}
