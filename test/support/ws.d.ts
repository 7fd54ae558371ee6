/** What tests need of `ws`, which has no types of its own. */
declare module 'ws' {
  import type { NodeWebSocketUpgradeServer } from '@agentclientprotocol/sdk/experimental/node'

  export class WebSocketServer implements NodeWebSocketUpgradeServer {
    constructor(options: { noServer: true })
    on: NodeWebSocketUpgradeServer['on']
    off: NodeWebSocketUpgradeServer['off']
    handleUpgrade: NodeWebSocketUpgradeServer['handleUpgrade']
  }
}
