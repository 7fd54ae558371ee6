import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { LOCAL_PORTS } from '../../src/mcp/server/local-http.ts'

describe('the ports of Parley', () => {
  it("aren't forwarded from a remote window, which leaves other ports as they are @floor", () => {
    const all = vscode.workspace.getConfiguration('remote').get<Record<string, object>>('portsAttributes', {})
    const { onAutoForward } = (all[`${LOCAL_PORTS.first}-${LOCAL_PORTS.last}`] ?? {}) as {
      onAutoForward?: string
    }
    assert.equal(onAutoForward, 'ignore')
    assert.deepEqual(all['443'], { protocol: 'https' })
  })
})
