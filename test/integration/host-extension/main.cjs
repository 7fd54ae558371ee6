exports.activate = context => ({ secrets: context.secrets })
