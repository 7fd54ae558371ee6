import * as l10n from '@vscode/l10n'
import type { AgentCatalog } from '../../agents/agent-catalog.ts'
import type { DefaultOptions } from '../../agents/definition.ts'
import { type SettingsSource, valueAt, withMember } from '../../agents/setting-layers.ts'
import { messageOf } from '../../common/errors.ts'
import { isRecord } from '../../common/is-record.ts'
import { plainMessage } from '../../common/plain-message.ts'
import type { Dialogs, Settings } from '../workbench.ts'
import type { LaunchConsent } from './launch-consent.ts'

interface AgentDefaultsOptions {
  catalog: Pick<AgentCatalog, 'defaultOptions'>
  source: SettingsSource
  settings: Settings
  dialogs: Pick<Dialogs, 'error'>
  consent: Pick<LaunchConsent, 'acceptDefault'>
}

/** Reads and writes `defaultOptions` in the entries of `parley.agents`. */
export class AgentDefaults {
  readonly #options: AgentDefaultsOptions
  /** settles when all earlier changes are written. Changes wait for each other because each replaces the whole setting. */
  #written: Promise<void> = Promise.resolve()

  constructor(options: AgentDefaultsOptions) {
    this.#options = options
  }

  of(agentId: string): DefaultOptions {
    return this.#options.catalog.defaultOptions(agentId).chosen
  }

  /** Writes a default, or shows why the default can't be written. `undefined` removes the default. */
  set(agentId: string, key: string, value: string | boolean | undefined): Promise<void> {
    this.#written = this.#written
      .then(() => this.#write(agentId, key, value))
      .catch((error: unknown) => {
        void this.#options.dialogs.error(plainMessage(messageOf(error)))
      })
    return this.#written
  }

  /** Writes to the workspace settings if the agent has an entry there, since that entry overrides the user's. */
  async #write(agentId: string, key: string, value: string | boolean | undefined): Promise<void> {
    const { source, settings, consent } = this.#options
    const layers = source.layers('agents')
    const path = value === undefined ? [agentId, 'defaultOptions', key] : [agentId]
    const isOfWorkspace = layers.some(
      layer => layer.scope === 'workspace' && valueAt(layer.value, path) !== undefined,
    )
    const scope = isOfWorkspace ? 'workspace' : 'user'
    const before = layers.find(layer => layer.scope === scope)?.value
    const entry = valueAt(before, [agentId])
    const options = valueAt(entry, ['defaultOptions'])
    const wrong = [before, entry, options].find(one => one !== undefined && !isRecord(one))
    if (wrong !== undefined)
      throw new Error(l10n.t("Can't save the default: {0} isn't valid.", 'parley.agents'))
    if (isOfWorkspace && value !== undefined) await consent.acceptDefault(agentId, key, value)
    const changed = withMember(options, key, value)
    await settings.update(
      'agents',
      withMember(before, agentId, withMember(entry, 'defaultOptions', changed)),
      scope,
    )
  }
}
