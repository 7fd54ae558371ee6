import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectDirectory } from '../../host/paths.ts'

describe('activation', () => {
  it('waits until VS Code has started or Parley is used', () => {
    const { activationEvents } = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
    // VS Code adds the events of commands and views. The others restore what a window had before a reload: tabs, and
    // editors with the original version of a file that an agent changed. The last one registers code actions after
    // startup. Activation alone loads nothing else.
    assert.deepEqual(activationEvents, [
      'onWebviewPanel:parley.conversationTab',
      'onWebviewPanel:parley.historyTab',
      'onCommand:parley.history.focus',
      'onWebviewPanel:parley.manageAgents',
      'onWebviewPanel:parley.mcpServers',
      'onWebviewPanel:parley.compare',
      'onWebviewPanel:parley.protocolTraffic',
      'onFileSystem:parley-base',
      'onUri',
      'onStartupFinished',
    ])
  })
})
