import assert from 'node:assert/strict'
import * as vscode from 'vscode'
import { secretsContract } from '../support/contracts/secrets.ts'

describe("VS Code's secret storage @floor", () => {
  secretsContract(async () => {
    const host = vscode.extensions.getExtension<{ secrets: vscode.SecretStorage }>(
      'parley-tests.parley-test-host',
    )
    assert.ok(host)
    const { secrets } = await host.activate()
    return [secrets, secrets]
  })
})
