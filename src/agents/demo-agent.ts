import * as l10n from '@vscode/l10n'
import type { AgentDefinition } from './definition.ts'

/**
 * The bundled agent for a first try without an account. It is run by the Node that the editor has anyway.
 *
 * @param script absolute path of the bundled program
 * @param execPath a Node, or an Electron that can be one
 */
export function demoAgent(script: string, execPath: string = process.execPath): AgentDefinition {
  return {
    id: 'demo',
    name: l10n.t('Demo Agent'),
    description: l10n.t('Shows what an agent can do. No account required.'),
    command: execPath,
    args: [script],
    // Without it an Electron would open a window; a plain Node does not look at it.
    env: { ELECTRON_RUN_AS_NODE: '1' },
    icon: 'beaker',
    source: 'demo',
  }
}
