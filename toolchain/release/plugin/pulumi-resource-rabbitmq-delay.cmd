@rem What the engine starts: the provider, on the Node.js of this machine, which is 20.19 or newer.
@node "%~dp0lib\plugin\dist\index.js" %*
