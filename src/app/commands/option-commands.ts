import * as l10n from '@vscode/l10n'
import type { ConfigOption } from '../../acp/model.ts'
import { UnavailableError } from '../../common/errors.ts'
import { sectionsOf } from '../../common/option-sections.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { defaultOptionKey, defaultsById } from '../../sessions/start-options.ts'
import type { AgentDefaults } from '../agents/agent-defaults.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { OptionMemory } from '../storage/option-memory.ts'
import type { Dialogs, PickItem } from '../workbench.ts'

interface OptionCommandOptions {
  surfaces: ConversationSurfaces
  memory: OptionMemory
  defaults: AgentDefaults
  dialogs: Dialogs
}

type SelectOption = Extract<ConfigOption, { type: 'select' }>
type Item = PickItem & { value?: string }

/** Returns *Change Mode…* and *Change Model…* for the active conversation. */
export function optionCommands(options: OptionCommandOptions) {
  return {
    [CommandId.changeMode]: () =>
      change(options, 'mode', agent => l10n.t("{0} doesn't offer a choice of modes.", agent)),
    [CommandId.changeModel]: () =>
      change(options, 'model', agent => l10n.t("{0} doesn't offer a choice of models.", agent)),
  } satisfies Partial<CommandHandlers>
}

/** Returns the option with which the agent offers its modes or models in a session. */
export function selectOption({ session }: OpenSession, category: string): SelectOption | undefined {
  return session.state.configOptions.find(
    (one): one is SelectOption => one.type === 'select' && one.category === category,
  )
}

async function change(
  options: OptionCommandOptions,
  category: string,
  none: (agent: string) => string,
): Promise<void> {
  const { controller } = options.surfaces.active
  const { current, agentId } = controller
  if (!current || agentId === undefined) {
    throw new UnavailableError(l10n.t('Start a session first.'))
  }
  const option = selectOption(current, category)
  if (!option) {
    throw new UnavailableError(none(current.agentName))
  }
  const value = await pick(options, option, agentId, current.session.state.configOptions)
  if (value === undefined || value === option.currentValue || controller.current !== current) return
  options.memory.used(agentId, option.id, value)
  await controller.configOptions.set(option.id, value)
}

/** Lets the user choose a value. Favorites come first, with a star; a pin marks the default. */
function pick(
  { dialogs, memory, defaults }: OptionCommandOptions,
  option: SelectOption,
  agentId: string,
  all: readonly ConfigOption[],
): Promise<string | undefined> {
  const box = dialogs.createPicker<Item>()
  box.title = option.name
  box.placeholder = option.description ?? ''
  box.matchOnDescription = true
  box.matchOnDetail = true
  const defaultOf = () => defaultsById(all, defaults.of(agentId))[option.id]
  const fill = () => {
    const remembered = memory.of(agentId)[option.id]
    const marked = new Set(remembered?.favorites)
    const own = defaultOf()
    box.items = sectionsOf(option.choices, remembered).flatMap(({ section, choices }): Item[] => [
      ...(section === undefined ? [] : [{ label: headingOf(section), isSeparator: true }]),
      ...choices.map(choice => ({
        label: choice.name,
        detail: choice.description,
        description: [
          choice.value === option.currentValue && l10n.t('current'),
          choice.value === own && l10n.t('default'),
        ]
          .filter(Boolean)
          .join(' · '),
        value: choice.value,
        buttons: [
          marked.has(choice.value)
            ? { icon: 'star-full', tooltip: l10n.t('Remove from Favorites') }
            : { icon: 'star-empty', tooltip: l10n.t('Add to Favorites') },
          choice.value === own
            ? { icon: 'pinned', tooltip: l10n.t("Don't Use as Default") }
            : { icon: 'pin', tooltip: l10n.t('Use as Default') },
        ],
      })),
    ])
  }
  fill()
  box.activeItems = box.items.filter(item => item.value === option.currentValue).slice(0, 1)
  return new Promise(resolve => {
    box.onDidPressButton(async ({ icon }, { value }) => {
      if (value === undefined) return
      if (icon.startsWith('star')) memory.toggle(agentId, option.id, value)
      else {
        const key = defaultOptionKey(all, option, defaults.of(agentId))
        await defaults.set(agentId, key, value === defaultOf() ? undefined : value)
      }
      fill()
      box.activeItems = box.items.filter(one => one.value === value).slice(0, 1)
    })
    box.onDidAccept(item => {
      resolve(item?.value)
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
  return section === 'favorites'
    ? l10n.t('Favorites')
    : section === 'recent'
      ? l10n.t('Recently used')
      : l10n.t('All')
}
