// Made by `npm run types` from /v1/openapi.json. Do not edit.
export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The process answers */
        get: operations["getHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The market takes requests: its core and journal keep up */
        get: operations["getReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** This document */
        get: operations["getOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agent": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a computer without souk fetches to lend */
        get: operations["getAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agent/bundle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Souk for Linux on x86_64, with its libraries: a .tar.gz */
        get: operations["getAgentBundle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agent/trainer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The built-in trainer for Linux on x86_64, with its libraries: a .tar.zst */
        get: operations["getAgentTrainer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/lend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A shell script that installs souk and lends: curl -fsS MARKET/lend | sh -s TOKEN */
        get: operations["getLendScript"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Prometheus metrics, for loopback and operators */
        get: operations["getMetrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What happens, as it happens: server-sent events, or with Accept: application/json a long poll */
        get: operations["getEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All accounts */
        get: operations["listAccounts"];
        put?: never;
        /** Sign up */
        post: operations["createAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Exchange a password for a token */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the session that this request belongs to */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change my password; all my other sessions end, those of machines go on */
        post: operations["changePassword"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/me": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My account */
        get: operations["getMe"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One account: one's own, or an operator any */
        get: operations["getAccount"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{name}/grant": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create credits for an account, or for the platform, which pays sign-up bonuses */
        post: operations["grantCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{name}/freeze": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop an account: its jobs pause, its offers trade no more */
        post: operations["freezeAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{name}/thaw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a frozen account go on */
        post: operations["thawAccount"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My tokens */
        get: operations["listTokens"];
        put?: never;
        /** A new token: for myself, for one of my machines, or one that can spend so many credits */
        post: operations["createToken"];
        /** End all my tokens: log out everywhere */
        delete: operations["revokeTokens"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End a token */
        delete: operations["revokeToken"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{name}/budgets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What an account uses of its budgets: one's own, or an operator any */
        get: operations["getBudgets"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/classes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The slot classes, those with the most on offer first */
        get: operations["listClasses"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/classes/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Add or edit a slot class, and how it is cleared */
        put: operations["setClass"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/classes/{name}/mechanisms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What each mechanism did for a class while it was in force */
        get: operations["compareMechanisms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/mechanisms": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The mechanisms by which a class can be cleared, their properties and parameters */
        get: operations["listMechanisms"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/machines": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My machines; for a machine's token that machine; for an operator who asks all of them */
        get: operations["listMachines"];
        put?: never;
        /** Add a machine to lend */
        post: operations["addMachine"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/machines/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One of my machines */
        get: operations["getMachine"];
        put?: never;
        post?: never;
        /** Remove a machine that has no offers */
        delete: operations["removeMachine"];
        options?: never;
        head?: never;
        /** Rename a machine, or tell what it has now */
        patch: operations["editMachine"];
        trace?: never;
    };
    "/v1/offers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is on offer */
        get: operations["listOffers"];
        put?: never;
        /** Offer slots of a machine */
        post: operations["postOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/offers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One offer */
        get: operations["getOffer"];
        put?: never;
        post?: never;
        /** Remove an offer without leases */
        delete: operations["removeOffer"];
        options?: never;
        head?: never;
        /** Change price, slots or windows */
        patch: operations["editOffer"];
        trace?: never;
    };
    "/v1/offers/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take no leases for a while; who is on it gets notice */
        post: operations["pauseOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/offers/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a pause */
        post: operations["resumeOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/offers/{id}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take no new leases; the present ones run to the end of their terms */
        post: operations["drainOffer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My jobs, newest first */
        get: operations["listJobs"];
        put?: never;
        /** Submit a job: its budget goes into escrow */
        post: operations["submitJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What a job would take and cost on the machines on offer; changes nothing and needs none of its files */
        post: operations["planJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One of my jobs */
        get: operations["getJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change limits, workers or constraints of a live job */
        patch: operations["editJob"];
        trace?: never;
    };
    "/v1/jobs/{id}/parts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The workers of a batch job */
        get: operations["listParts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/sweep": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The trials of a sweep */
        get: operations["getSweep"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give all workers back for now */
        post: operations["pauseJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Bid again */
        post: operations["resumeJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End a job; what is left of its budget returns */
        post: operations["cancelJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/why": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Why it does not run, and the cheapest ways out */
        get: operations["whyJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** All leases of a job */
        get: operations["listJobLeases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My leases, as lender and as borrower; for a machine's token that machine's */
        get: operations["listLeases"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The work runs: billing begins */
        post: operations["startLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The work ended, or the lender takes the slots back */
        post: operations["finishLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/checkpoint": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Whoever continues this work begins here */
        post: operations["checkpointLease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/volume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** What is in a volume of the job from now on */
        post: operations["saveVolume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/machines/{id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The machine is alive and holds these leases */
        post: operations["heartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What its workers use, over time */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/machines/{id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the programs of its latest leases use, over time */
        get: operations["getMachineUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/forecasts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Forecasts of jobs that have ended, beside what came of them */
        get: operations["listForecasts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/machines/{id}/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The machine's open leases; waits for a change */
        get: operations["getWork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/machines/{id}/challenge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** The result of a computation that a heartbeat's answer asked for */
        post: operations["answerChallenge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blobs/missing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Which of these chunks are still to be sent */
        post: operations["missingBlobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blobs/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One chunk: of your own, or what the query gives a right to */
        get: operations["getBlob"];
        /** Store a chunk (blob/chunk.h) under the digest of its content */
        put: operations["putBlob"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/blobs/clean": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Operators: remove the files that nobody used for longest and no live job needs, until so many bytes are free. Answers with what was freed */
        post: operations["cleanBlobs"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the program of a lease printed */
        get: operations["getLog"];
        put?: never;
        /** What the program printed */
        post: operations["appendLog"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/machines/{id}/sharing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** The machine gives files of its jobs to other machines with leases of the same jobs */
        put: operations["shareChunks"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/peers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Which of these chunks of the lease's files another machine has. The rest: GET /v1/blobs */
        post: operations["findPeers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/network": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** A worker of a gang is there; gives those who are, too */
        put: operations["joinNetwork"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/tunnel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A way to another worker of the gang through this server: the connection leaves HTTP (101) */
        get: operations["meetWorker"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/relays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Relays at which machines of gangs may meet */
        get: operations["listRelays"];
        /** A relay at which machines of gangs may meet */
        put: operations["announceRelay"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/services/{name}/{path}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A request to a service: its program answers */
        get: operations["callServiceGet"];
        /** A request to a service: its program answers */
        put: operations["callServicePut"];
        /** A request to a service: its program answers */
        post: operations["callServicePost"];
        /** A request to a service: its program answers */
        delete: operations["callServiceDelete"];
        options?: never;
        head?: never;
        /** A request to a service: its program answers */
        patch: operations["callServicePatch"];
        trace?: never;
    };
    "/v1/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Services that I may call */
        get: operations["listServices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/chat/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** As in OpenAI's API: the service with that model answers */
        post: operations["chatCompletions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/completions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** As in OpenAI's API: the service with that model answers */
        post: operations["completions"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Language models that I may use, as in OpenAI's API */
        get: operations["listModels"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/line": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A line to the lease's program, to be used by whoever may talk to it: the connection leaves HTTP (101) */
        get: operations["parkLine"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/connect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A way to a port, or to the terminal, of my job's program: the connection leaves HTTP (101) */
        get: operations["connectJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My volumes */
        get: operations["listVolumes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/volumes/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Forget what is in a volume of mine */
        delete: operations["removeVolume"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The files that a job and its workers left */
        get: operations["listFiles"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/file": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One of these files, of 256 MiB at most */
        get: operations["getFile"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/prepare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A job file as a job that can be planned and submitted: what it names is put on the server. Changes nothing in the market */
        post: operations["prepareJob"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/samples": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Job files to begin with */
        get: operations["listSamples"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/training/choices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Models, data, aggregators, codecs and validators that a training can name */
        get: operations["listTrainingChoices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/units": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Something for a training worker to do */
        post: operations["askUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/units/{unit}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** A piece of a unit's update (train/update.h) */
        put: operations["putUnit"];
        /** What became of a unit */
        post: operations["finishUnit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/leases/{id}/parameters": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The parameters that changed (train/pull.h) */
        get: operations["getParameters"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/jobs/{id}/training": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** How far a training is */
        get: operations["getTraining"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/prices": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Prices paid for a class, and suggested ones */
        get: operations["getPrices"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/book": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is asked and bid for a class now, by price and without names */
        get: operations["getBook"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ledger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Balances, the platform's and the mint's too; they sum to 0 */
        get: operations["getLedger"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/ledger/statement": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Movements of an account with their reasons, newest first */
        get: operations["getStatement"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The market's settings */
        get: operations["getSettings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change settings */
        patch: operations["editSettings"];
        trace?: never;
    };
    "/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What operators did, newest first */
        get: operations["listAudit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Comments: one's own, for an operator everybody's */
        get: operations["listFeedback"];
        put?: never;
        /** Tell the operator something */
        post: operations["giveFeedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/faq": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Frequently asked questions */
        get: operations["getFaq"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/credits/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Requests for credits: one's own last, for an operator everybody's */
        get: operations["listCreditRequests"];
        put?: never;
        /** Ask the operator for credits; replaces one's own open request */
        post: operations["requestCredits"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/accounts/{name}/request": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Grant what an account asked for, or a part of it, or decline; with a word */
        post: operations["answerCreditRequest"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/earnings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a machine would earn in a week, by class, from what was wanted and paid of late */
        get: operations["getEarnings"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/lab/scenarios": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Scenarios to begin with, and how large a run may be */
        get: operations["listLabScenarios"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/lab/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** My runs, newest first, without what came of them */
        get: operations["listLabRuns"];
        put?: never;
        /** Run a scenario under its mechanisms */
        post: operations["newLabRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/lab/replays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Clear this market's own rounds again under other mechanisms */
        post: operations["newLabReplay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/lab/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A run: how far it is, or what came of it */
        get: operations["getLabRun"];
        put?: never;
        post?: never;
        /** Cancel a run, or forget one that is finished */
        delete: operations["removeLabRun"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/lab/runs/{id}/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** A page that shows what came of a scenario */
        get: operations["getLabReport"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/lab/runs/{id}/trades": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Every trade of a scenario */
        get: operations["getLabTrades"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Account: {
            /**
             * @description Names one account.
             * @example a17
             */
            id: string;
            name: string;
            /** @default false */
            operator: boolean;
            frozen?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            available: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            bonus: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            escrow: number;
            /** Format: date-time */
            created: string;
        };
        Acknowledged: {
            /** @default true */
            ok: boolean;
        };
        AgentBundle: {
            /** @default false */
            available: boolean;
            version: string;
            sha256: string;
            /** Format: int64 */
            bytes: number;
            public_url: string;
            trainer?: components["schemas"]["AgentTrainer"];
        };
        AgentTrainer: {
            sha256: string;
            /** Format: int64 */
            bytes: number;
        };
        Aggregator: {
            name: string;
            summary: string;
            sends: components["schemas"]["Sends"];
            folding: components["schemas"]["Folding"];
            /** @default false */
            robust: boolean;
            parameters?: components["schemas"]["Parameter"][];
        };
        AuditEntry: {
            /** Format: date-time */
            at: string;
            who: string;
            action: string;
            subject: string;
            detail: string;
        };
        /** @enum {string} */
        Average: "tail" | "none";
        Balance: {
            /**
             * @description Names one account.
             * @example a17
             */
            id?: string;
            name: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            available: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            bonus: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            escrow: number;
        };
        Batch: {
            run: string;
            /** @default  */
            setup: string;
            workdir?: string;
            inputs?: components["schemas"]["BatchInput"][];
            outputs?: string[];
            env?: {
                [key: string]: string;
            };
            image?: string;
            checkpoint?: components["schemas"]["BatchCheckpoint"];
            /** @default none */
            network: components["schemas"]["Network"];
            retry?: components["schemas"]["Retry"];
            train?: components["schemas"]["Train"];
            replicate?: number;
            /** Format: int64 */
            scratch_mib?: number;
            environment?: components["schemas"]["BatchEnvironment"];
            sweep?: components["schemas"]["Sweep"];
            gang?: components["schemas"]["BatchGang"];
            service?: components["schemas"]["BatchService"];
            session?: components["schemas"]["BatchSession"];
            volumes?: string[];
        };
        BatchAssignment: {
            job_name: string;
            kind: string;
            index: number;
            workers: number;
            tries: number;
            checkpoint?: string;
            batch: components["schemas"]["Batch"];
            cores: number;
            /** Format: int64 */
            memory_mib: number;
            gpus: number;
            packages?: string[];
            gang?: components["schemas"]["GangPlace"];
            volumes?: components["schemas"]["VolumeContent"][];
        };
        BatchCheckpoint: {
            path: string;
            /**
             * @description A length of time.
             * @default 2m
             * @example 1h30m
             */
            every: string;
        };
        BatchEnvironment: {
            /** @default  */
            blob: string;
            python: string;
            /** @default  */
            lock: string;
            /** @default 0 */
            count: number;
            /** @default x86_64 */
            arch: string;
            wheels?: components["schemas"]["Wheel"][];
        };
        BatchGang: {
            /** @default false */
            led: boolean;
        };
        BatchInput: {
            path: string;
            /** @default  */
            blob: string;
            /** @default false */
            file: boolean;
            /** @default  */
            url: string;
            /** @default  */
            sha256: string;
        };
        BatchService: {
            name: string;
            port: number;
            /** @default  */
            health: string;
            /** @default 8 */
            at_once: number;
            /**
             * @description A length of time.
             * @default 2m
             * @example 1h30m
             */
            timeout: string;
            /** @default owner */
            callers: components["schemas"]["Callers"];
            /** @default  */
            model: string;
        };
        BatchSession: {
            /**
             * @description A length of time.
             * @default 30m
             * @example 1h30m
             */
            idle: string;
            /** @default 0 */
            port: number;
        };
        BatchTime: {
            batch: number;
            /** Format: int64 */
            steps: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            compute: string;
        };
        BlobCleaning: {
            /** Format: int64 */
            bytes: number;
        };
        BlobNames: {
            names?: string[];
        };
        Book: {
            class: string;
            /** Format: date-time */
            at: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            suggested: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            last?: number;
            asks?: components["schemas"]["BookLevel"][];
            bids?: components["schemas"]["BookLevel"][];
        };
        BookLevel: {
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price: number;
            /** Format: int64 */
            slots: number;
            /** @default false */
            market: boolean;
        };
        /** @enum {string} */
        Bottleneck: "compute" | "network" | "hub";
        /** @enum {string} */
        BudgetBalance: "strong" | "weak" | "deficit";
        /** @enum {string} */
        BudgetUnit: "bytes" | "count";
        BudgetUse: {
            name: string;
            what: string;
            unit: components["schemas"]["BudgetUnit"];
            /** Format: int64 */
            used: number;
            /** Format: int64 */
            limit: number;
        };
        BudgetUses: {
            items?: components["schemas"]["BudgetUse"][];
        };
        BusyCores: {
            cores: number;
            of: number;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            again?: string;
        };
        BusyReport: {
            cores: number;
            of: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            lasting: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            put_off?: string;
        };
        /** @enum {string} */
        Callers: "owner" | "members";
        Cancel: {
            /** @default  */
            reason: string;
        };
        Challenge: {
            id: string;
            kind: components["schemas"]["ChallengeKind"];
            seeds?: string[];
            /**
             * Format: int64
             * @default 0
             */
            steps: number;
            /**
             * Format: int64
             * @default 0
             */
            memory_mib: number;
            /** @default 1 */
            cores: number;
            /** @default 0 */
            size: number;
            /**
             * Format: int64
             * @default 0
             */
            reads: number;
            gpus?: number[];
            rows?: number[];
        };
        ChallengeAnswer: {
            id: string;
            results?: string[];
            cpu_share?: number;
            trouble?: string;
        };
        /** @enum {string} */
        ChallengeKind: "compute" | "fill" | "read" | "gpu_open" | "gpu_product" | "gpu_rows" | "gpu_fill" | "gpu_read";
        ChallengeVerdict: {
            /** @default false */
            good: boolean;
            reason?: string;
            next?: components["schemas"]["Challenge"];
        };
        Choice: {
            name: string;
            summary: string;
            parameters?: components["schemas"]["Parameter"][];
        };
        ChunkPeer: {
            name: string;
            address: string;
            port: number;
            pin: string;
            ticket: string;
        };
        ChunkPeers: {
            peers?: components["schemas"]["ChunkPeer"][];
        };
        ChunkSharing: {
            port: number;
            key: string;
            pin: string;
        };
        ClassEarnings: {
            class: string;
            cores: number;
            /** Format: int64 */
            memory_mib: number;
            gpus: number;
            /** Format: int64 */
            gpu_memory_mib: number;
            slots: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price: number;
            hours: number;
            used?: number;
            unfilled?: number;
            week?: components["schemas"]["WeekEarnings"];
        };
        Comparison: {
            a: string;
            b: string;
            metrics?: components["schemas"]["Difference"][];
        };
        Constraints: {
            packages?: string[];
            regions?: string[];
            max_rtt_ms?: number;
            min_reliability?: number;
            lenders_allowed?: string[];
            lenders_refused?: string[];
            providers_allowed?: string[];
            providers_refused?: string[];
        };
        CreditAnswer: {
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            amount?: number;
            /** @default  */
            word: string;
        };
        CreditRequest: {
            account: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            amount: number;
            why: string;
            /** Format: date-time */
            at: string;
            /** Format: date-time */
            answered?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            granted?: number;
            word?: string;
        };
        CreditRequests: {
            items?: components["schemas"]["CreditRequest"][];
        };
        Difference: {
            metric: string;
            a: components["schemas"]["Estimate"];
            b: components["schemas"]["Estimate"];
            difference: components["schemas"]["Estimate"];
            /** @default false */
            significant: boolean;
        };
        Earnings: {
            items?: components["schemas"]["ClassEarnings"][];
        };
        /** @enum {string} */
        Efficiency: "none" | "pareto" | "within_factor" | "within_price" | "in_large_markets" | "but_one_deal" | "if_truthful" | "full";
        Estimate: {
            mean: number;
            low: number;
            high: number;
        };
        /** @enum {string} */
        Fairness: "none" | "shares" | "service" | "near_service" | "time_to_finish";
        Faq: {
            items?: components["schemas"]["FaqEntry"][];
        };
        FaqEntry: {
            question: string;
            answer: string;
        };
        /** @enum {string} */
        Fault: "machine" | "job";
        Feedback: {
            /**
             * @description Names one feedback.
             * @example f17
             */
            id: string;
            account: string;
            category: components["schemas"]["FeedbackCategory"];
            text: string;
            /** Format: date-time */
            at: string;
        };
        /** @enum {string} */
        FeedbackCategory: "question" | "problem" | "idea" | "praise";
        /** @enum {string} */
        Folding: "each" | "buffer" | "round";
        ForecastOutcome: {
            /**
             * @description Names one job.
             * @example j17
             */
            job: string;
            kind: string;
            class: string;
            state: components["schemas"]["JobState"];
            /** Format: date-time */
            ended: string;
            forecast: components["schemas"]["JobQuote"];
            actual: components["schemas"]["JobActual"];
        };
        Freeze: {
            reason: string;
        };
        /** @enum {string} */
        GangPhase: "forming" | "running" | "regrouping" | "ending";
        GangPlace: {
            world: number;
            restarts: number;
        };
        /** @enum {string} */
        Goods: "slots" | "bundles";
        Grant: {
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            amount: number;
            /** @default  */
            memo: string;
        };
        Health: {
            status: components["schemas"]["HealthStatus"];
            version: string;
            /** Format: int64 */
            events: number;
            new_market?: boolean;
        };
        /** @enum {string} */
        HealthStatus: "ok" | "ready";
        Heartbeat: {
            leases?: components["schemas"]["LeaseReport"][];
            holds?: string[];
            busy?: components["schemas"]["BusyReport"];
        };
        IssuedToken: {
            /**
             * @description Names one token.
             * @example t17
             */
            id: string;
            token: string;
            scope: components["schemas"]["Scope"];
            /**
             * @description Names one machine.
             * @example m17
             */
            machine?: string;
            /** Format: date-time */
            expires?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            limit?: number;
        };
        Job: {
            /**
             * @description Names one job.
             * @example j17
             */
            id: string;
            name: string;
            kind: string;
            owner: string;
            class: string;
            workers: components["schemas"]["Workers"];
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            limit: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            budget: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            spent: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            escrow: number;
            /** Format: date-time */
            deadline?: string;
            priority: number;
            constraints: components["schemas"]["Constraints"];
            state: components["schemas"]["JobState"];
            reason: string;
            held: number;
            done: number;
            /** @default false */
            low: boolean;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            runway?: string;
            leases?: components["schemas"]["Lease"][];
            /** Format: date-time */
            created: string;
            /** Format: date-time */
            started?: string;
            /** Format: date-time */
            ended?: string;
            batch?: components["schemas"]["Batch"];
            result?: string;
            forecast?: components["schemas"]["JobForecast"];
            planned?: number;
            planned_why?: string;
            classes?: string[];
            moves?: components["schemas"]["JobMove"][];
            expect?: string;
            wrong?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            accrued?: number;
            quoted?: components["schemas"]["JobQuote"];
            actual?: components["schemas"]["JobActual"];
            estimate?: components["schemas"]["JobQuote"];
            /**
             * @description Names one job.
             * @example j17
             */
            sweep?: string;
            gang?: components["schemas"]["JobGang"];
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            per_request?: number;
            volumes?: string[];
        };
        JobActual: {
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost: number;
            /** @default false */
            over: boolean;
        };
        JobDraft: {
            yaml: string;
            files?: string;
        };
        JobEdit: {
            workers?: components["schemas"]["Workers"];
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            limit?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            budget?: number;
            /** Format: date-time */
            deadline?: string;
            priority?: number;
            constraints?: components["schemas"]["Constraints"];
        };
        JobForecast: {
            workers: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time_low: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time_high: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost_low: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost_high: number;
            chance?: number;
            part?: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            startup?: string;
            longer?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price?: number;
            method?: components["schemas"]["QuoteMethod"];
            /** Format: int64 */
            runs?: number;
        };
        JobGang: {
            phase: components["schemas"]["GangPhase"];
            restarts: number;
        };
        JobMove: {
            /** Format: date-time */
            at: string;
            from: string;
            to: string;
            why: string;
        };
        JobPlan: {
            candidates?: components["schemas"]["PlanCandidate"][];
            why: string;
            /** @default false */
            profiled: boolean;
            /** Format: int64 */
            runs: number;
            /** @default false */
            guessed: boolean;
            measures?: components["schemas"]["PlanMeasures"];
            target_after?: number;
            method: components["schemas"]["QuoteMethod"];
            prices?: components["schemas"]["PlanPrices"][];
            sweep?: components["schemas"]["PlanSweep"];
            elsewhere?: string;
        };
        JobQuote: {
            workers: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time_low: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time_high: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost_low: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost_high: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price?: number;
            method: components["schemas"]["QuoteMethod"];
            /** Format: int64 */
            runs: number;
        };
        /** @enum {string} */
        JobState: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled" | "expired";
        JobUsage: {
            items?: components["schemas"]["LeaseUsage"][];
        };
        /** @enum {string} */
        LabKind: "scenario" | "replay";
        LabLimits: {
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time: string;
            /** Format: int64 */
            mechanisms: number;
            /** Format: int64 */
            seeds: number;
            /** Format: int64 */
            agents: number;
            /** Format: int64 */
            prices: number;
            /** Format: int64 */
            jobs: number;
            /** Format: int64 */
            trades: number;
            /** Format: int64 */
            waiting: number;
            /** Format: int64 */
            kept: number;
        };
        LabRun: {
            /**
             * @description Names one run.
             * @example r17
             */
            id: string;
            kind: components["schemas"]["LabKind"];
            state: components["schemas"]["LabState"];
            progress: number;
            title: string;
            mechanisms?: string[];
            /** Format: int64 */
            seeds: number;
            /** Format: date-time */
            created: string;
            /** Format: date-time */
            finished?: string;
            error?: string;
            summary?: components["schemas"]["Summary"];
            comparisons?: components["schemas"]["Comparison"][];
            replay?: components["schemas"]["Replayed"];
            scenario?: string;
        };
        LabScenario: {
            name: string;
            summary: string;
            scenario: string;
        };
        LabScenarios: {
            items?: components["schemas"]["LabScenario"][];
            limits: components["schemas"]["LabLimits"];
        };
        /** @enum {string} */
        LabState: "queued" | "running" | "done" | "failed" | "cancelled" | "interrupted";
        Lease: {
            /**
             * @description Names one lease.
             * @example l17
             */
            id: string;
            /**
             * @description Names one job.
             * @example j17
             */
            job: string;
            /**
             * @description Names one offer.
             * @example o17
             */
            offer: string;
            /**
             * @description Names one machine.
             * @example m17
             */
            machine: string;
            borrower: string;
            lender: string;
            class: string;
            slots: number;
            epoch: number;
            state: components["schemas"]["LeaseState"];
            outcome?: components["schemas"]["LeaseOutcome"];
            detail?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price: number;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            until: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            next_price?: number;
            /** Format: date-time */
            next_until?: string;
            /** Format: date-time */
            granted: string;
            /** Format: date-time */
            started?: string;
            /** Format: date-time */
            settled_until?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            paid: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            earned: number;
            /** Format: date-time */
            ended?: string;
            part?: number;
            doing?: string;
            task?: components["schemas"]["BatchAssignment"];
            /** Format: date-time */
            ready?: string;
            /** Format: int64 */
            requests?: number;
        };
        LeaseCheckpoint: {
            epoch: number;
            checkpoint: string;
        };
        LeaseFinish: {
            epoch: number;
            outcome: components["schemas"]["ReportedOutcome"];
            /** @default  */
            detail: string;
            result?: string;
            usage?: components["schemas"]["Usage"];
            fault?: components["schemas"]["Fault"];
        };
        /** @enum {string} */
        LeaseOutcome: "none" | "completed" | "failed" | "released" | "term" | "lost" | "unstarted" | "job";
        LeaseReport: {
            /**
             * @description Names one lease.
             * @example l17
             */
            lease: string;
            epoch: number;
            doing?: string;
            usage?: components["schemas"]["Usage"];
        };
        LeaseStart: {
            epoch: number;
        };
        /** @enum {string} */
        LeaseState: "granted" | "running" | "draining" | "closed";
        LeaseUsage: {
            /**
             * @description Names one lease.
             * @example l17
             */
            lease: string;
            part?: number;
            samples?: components["schemas"]["UsageSample"][];
        };
        Ledger: {
            accounts?: components["schemas"]["Balance"][];
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            sum: number;
        };
        LeftOut: {
            condition: string;
            /** Format: int64 */
            offers: number;
            /** Format: int64 */
            only: number;
        };
        /** @enum {string} */
        LineKind: "grant" | "bonus" | "reserve" | "refund" | "spend" | "earn";
        /** @enum {string} */
        LocalState: "keep" | "fresh";
        Log: {
            /**
             * @description Names one lease.
             * @example l17
             */
            lease: string;
            text: string;
            /** Format: int64 */
            next: number;
            /** @default false */
            ended: boolean;
        };
        LogPiece: {
            epoch: number;
            /** Format: int64 */
            offset: number;
            text: string;
        };
        LogSize: {
            /** Format: int64 */
            size: number;
        };
        Login: {
            name: string;
            password: string;
            label?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            expires_in?: string;
        };
        Machine: {
            /**
             * @description Names one machine.
             * @example m17
             */
            id: string;
            name: string;
            owner: string;
            spec: components["schemas"]["MachineSpec"];
            reliability: number;
            /** @default true */
            online: boolean;
            offers?: string[];
            /** Format: date-time */
            created: string;
            doubted?: string;
            /** Format: int64 */
            leases: number;
            core_speed?: number;
            busy?: components["schemas"]["BusyCores"];
        };
        MachineEdit: {
            name?: string;
            spec?: components["schemas"]["MachineSpec"];
        };
        MachineEnvironment: {
            name: string;
            packages?: string[];
        };
        MachineSpec: {
            cores: number;
            /** Format: int64 */
            memory_mib: number;
            /**
             * Format: int64
             * @default 0
             */
            disk_mib: number;
            /** @default 0 */
            gpus: number;
            /**
             * Format: int64
             * @default 0
             */
            gpu_memory_mib: number;
            /** @default  */
            gpu: string;
            /** @default  */
            cpu: string;
            /** @default  */
            os: string;
            /** @default  */
            region: string;
            /** @default community */
            provider: string;
            packages?: string[];
            /** @default 0 */
            rtt_ms: number;
            environments?: components["schemas"]["MachineEnvironment"][];
        };
        /** @enum {string} */
        Measurements: "none" | "rates" | "rates_and_work";
        Mechanism: {
            name: string;
            summary: string;
            properties: components["schemas"]["MechanismProperties"];
            note?: string;
            parameters?: components["schemas"]["Parameter"][];
        };
        MechanismProperties: {
            /** @default true */
            individually_rational: boolean;
            truthfulness: components["schemas"]["Truthfulness"];
            budget_balance: components["schemas"]["BudgetBalance"];
            efficiency: components["schemas"]["Efficiency"];
            sybil_proofness: components["schemas"]["SybilProofness"];
            fairness: components["schemas"]["Fairness"];
            measurements: components["schemas"]["Measurements"];
            goods: components["schemas"]["Goods"];
            /** @default true */
            sets_prices: boolean;
            /** @default true */
            gangs: boolean;
            /** @default true */
            live: boolean;
            own_demand: components["schemas"]["OwnDemand"];
        };
        MechanismRecord: {
            mechanism: string;
            /** @default false */
            in_force: boolean;
            /** Format: int64 */
            rounds: number;
            /** Format: int64 */
            traded: number;
            efficiency?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            borrowers_pay: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            lenders_get: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            platform: number;
            served?: number;
            utilisation?: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            wait_p50?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            wait_p95?: string;
            borrowers_share?: number;
            lenders_share?: number;
            platform_share?: number;
            alpha?: number;
            volatility?: number;
        };
        MechanismRecords: {
            class: string;
            items?: components["schemas"]["MechanismRecord"][];
            treatment: components["schemas"]["Treatment"];
        };
        MechanismSummary: {
            name: string;
            metrics?: {
                [key: string]: components["schemas"]["Estimate"];
            };
            waits?: number[];
        };
        Mechanisms: {
            items?: components["schemas"]["Mechanism"][];
            external: components["schemas"]["Choice"];
        };
        MeetingPlace: {
            url: string;
            ticket: string;
        };
        ModelList: {
            object: string;
            data?: components["schemas"]["ModelRow"][];
        };
        ModelRow: {
            id: string;
            object: string;
            owned_by: string;
        };
        NearMachine: {
            /**
             * @description Names one offer.
             * @example o17
             */
            offer: string;
            machine: string;
            environment: string;
            lacks?: string[];
        };
        /** @enum {string} */
        Network: "none" | "internet";
        NetworkJoin: {
            epoch: number;
            key: string;
            /** @default false */
            fast_aes: boolean;
            /** @default 0 */
            port: number;
        };
        NetworkPeer: {
            worker: number;
            key: string;
            /** @default false */
            fast_aes: boolean;
            address?: string;
            ports?: number[];
            places?: components["schemas"]["MeetingPlace"][];
        };
        NetworkView: {
            world: number;
            peers?: components["schemas"]["NetworkPeer"][];
        };
        NewAccount: {
            name: string;
            password: string;
            bootstrap?: string;
        };
        NewCreditRequest: {
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            amount: number;
            why: string;
        };
        NewFeedback: {
            category: components["schemas"]["FeedbackCategory"];
            text: string;
        };
        NewJob: {
            /** @default  */
            name: string;
            /** @default batch */
            kind: string;
            class?: string;
            resources?: components["schemas"]["Resources"];
            workers?: components["schemas"]["Workers"];
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            limit?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            budget: number;
            /** Format: date-time */
            deadline?: string;
            /** @default 0 */
            priority: number;
            constraints?: components["schemas"]["Constraints"];
            batch?: components["schemas"]["Batch"];
            also_classes?: string[];
            expect?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            per_request?: number;
        };
        NewLabReplay: {
            mechanisms?: string[];
            class?: string;
            /** Format: int64 */
            days?: number;
            /** @default 0.1 */
            shading: number;
        };
        NewLabRun: {
            scenario: string;
            mechanisms?: string[];
            /** Format: int64 */
            seeds?: number;
        };
        NewMachine: {
            name: string;
            spec: components["schemas"]["MachineSpec"];
        };
        NewOffer: {
            /**
             * @description Names one machine.
             * @example m17
             */
            machine: string;
            class: string;
            /** @default 1 */
            slots: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price?: number;
            weekly?: string[];
            /** Format: date-time */
            from?: string;
            /** Format: date-time */
            until?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            longest_lease?: string;
        };
        NewPassword: {
            old_password: string;
            password: string;
        };
        NewToken: {
            /** @default user */
            scope: components["schemas"]["Scope"];
            /**
             * @description Names one machine.
             * @example m17
             */
            machine?: string;
            /** @default  */
            label: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            expires_in?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            limit?: number;
        };
        Notice: {
            /** Format: int64 */
            number: number;
            /** Format: date-time */
            at: string;
            kind: string;
            /**
             * @description Names one job.
             * @example j17
             */
            job?: string;
            /**
             * @description Names one lease.
             * @example l17
             */
            lease?: string;
            /**
             * @description Names one offer.
             * @example o17
             */
            offer?: string;
            /**
             * @description Names one machine.
             * @example m17
             */
            machine?: string;
            class?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            amount?: number;
            text?: string;
        };
        Notices: {
            items?: components["schemas"]["Notice"][];
            /** Format: int64 */
            next: number;
        };
        /** @enum {string} */
        Obstacle: "price" | "window" | "full" | "paused" | "draining" | "offline" | "frozen" | "packages" | "region" | "rtt" | "reliability" | "lender" | "provider" | "avoided" | "unproved";
        Offer: {
            /**
             * @description Names one offer.
             * @example o17
             */
            id: string;
            /**
             * @description Names one machine.
             * @example m17
             */
            machine: string;
            machine_name: string;
            lender: string;
            class: string;
            slots: number;
            free: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price?: number;
            state: components["schemas"]["OfferState"];
            weekly?: string[];
            /** Format: date-time */
            from?: string;
            /** Format: date-time */
            until?: string;
            /** Format: date-time */
            opens?: string;
            /** Format: date-time */
            closes?: string;
            /** Format: date-time */
            paused_until?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            longest_lease: string;
            reliability: number;
            region: string;
            provider: string;
            rtt_ms: number;
            /** Format: date-time */
            created: string;
            /** @default true */
            sandboxed: boolean;
            /** Format: int64 */
            leases: number;
            cores: number;
            memory: number;
            gpus: number;
            gpu: string;
            vram: number;
            speed?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            asks: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            per_speed?: number;
            packages?: string[];
            package_count: number;
            busy?: components["schemas"]["BusyCores"];
        };
        OfferEdit: {
            slots?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price?: number;
            /** @default false */
            market: boolean;
            weekly?: string[];
            /** Format: date-time */
            from?: string;
            /** Format: date-time */
            until?: string;
            /** @default false */
            always: boolean;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            longest_lease?: string;
        };
        OfferPage: {
            query?: string;
            items?: components["schemas"]["Offer"][];
            next?: string;
            /** Format: int64 */
            looked_at: number;
            left_out?: components["schemas"]["LeftOut"][];
        };
        /** @enum {string} */
        OfferState: "open" | "full" | "closed" | "doubted" | "offline" | "paused" | "draining" | "frozen";
        OpenLeases: {
            leases?: components["schemas"]["Lease"][];
            /** Format: int64 */
            version: number;
            later?: string[];
        };
        Order: {
            /**
             * @description Names one lease.
             * @example l17
             */
            lease: string;
            epoch: number;
            action: components["schemas"]["OrderAction"];
            /** Format: date-time */
            until?: string;
        };
        /** @enum {string} */
        OrderAction: "run" | "drain" | "stop";
        Orders: {
            orders?: components["schemas"]["Order"][];
            /**
             * @description A length of time.
             * @example 1h30m
             */
            heartbeat_every: string;
            challenge?: components["schemas"]["Challenge"];
            unproved?: boolean;
        };
        /** @enum {string} */
        OwnDemand: "can_raise_price" | "never_raises_price";
        PageAccount: {
            items?: components["schemas"]["Account"][];
            next?: string;
        };
        PageAuditEntry: {
            items?: components["schemas"]["AuditEntry"][];
            next?: string;
        };
        PageFeedback: {
            items?: components["schemas"]["Feedback"][];
            next?: string;
        };
        PageForecastOutcome: {
            items?: components["schemas"]["ForecastOutcome"][];
            next?: string;
        };
        PageJob: {
            items?: components["schemas"]["Job"][];
            next?: string;
        };
        PageLabRun: {
            items?: components["schemas"]["LabRun"][];
            next?: string;
        };
        PageLease: {
            items?: components["schemas"]["Lease"][];
            next?: string;
        };
        PageMachine: {
            items?: components["schemas"]["Machine"][];
            next?: string;
        };
        PageSlotClass: {
            items?: components["schemas"]["SlotClass"][];
            next?: string;
        };
        PageToken: {
            items?: components["schemas"]["Token"][];
            next?: string;
        };
        PageWorkerStatus: {
            items?: components["schemas"]["WorkerStatus"][];
            next?: string;
        };
        Parameter: {
            name: string;
            type: components["schemas"]["ParameterType"];
            low?: number;
            high?: number;
            /** @default false */
            above_low: boolean;
            choices?: string[];
            /** @default false */
            needed: boolean;
            default?: string;
            default_words?: string;
            suggested?: string;
            meaning: string;
        };
        /** @enum {string} */
        ParameterType: "number" | "whole" | "decimal" | "price" | "choice" | "text";
        Pause: {
            /**
             * @description A length of time.
             * @example 1h30m
             */
            for?: string;
        };
        PlanCandidate: {
            class: string;
            cluster: string;
            workers: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time_low: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time_high: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost_low: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost_high: number;
            chance?: number;
            limit: components["schemas"]["Bottleneck"];
            /** @default false */
            chosen: boolean;
        };
        PlanMeasures: {
            steps?: components["schemas"]["BatchTime"][];
            /** Format: int64 */
            unit_bytes: number;
            mbps: number;
            /** Format: int64 */
            memory_bytes: number;
            folds_per_s: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            startup: string;
            spent: components["schemas"]["TimeSpent"];
            longer: number;
        };
        PlanPrices: {
            class: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            suggested: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cheapest?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            limit: number;
            /** @default false */
            limit_given: boolean;
            workers: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            pays?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            enough?: number;
        };
        PlanSweep: {
            trials: number;
            parallel: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            most: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            cost?: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            time?: string;
        };
        PreparedJob: {
            job: components["schemas"]["NewJob"];
            notes?: string[];
        };
        PriceBucket: {
            /** Format: date-time */
            from: string;
            prices: components["schemas"]["PriceSummary"];
            utilisation?: number;
        };
        PriceSummary: {
            /** Format: int64 */
            volume: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            average?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            low?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            quartile1?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            median?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            quartile3?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            high?: number;
        };
        Prices: {
            class: string;
            mechanism: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            suggested: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            last?: number;
            summary: components["schemas"]["PriceSummary"];
            buckets?: components["schemas"]["PriceBucket"][];
            ahead?: components["schemas"]["Suggestion"][];
        };
        Problem: {
            type: string;
            title: string;
            status: number;
            code: string;
            detail: string;
            field?: string;
            hint?: string;
        };
        /** @enum {string} */
        QuoteMethod: "runs" | "similar" | "guess" | "parts";
        /** @enum {string} */
        RelaxKind: "wait" | "workers" | "packages" | "region" | "rtt" | "reliability" | "lender" | "provider" | "price" | "slot_class" | "budget" | "environment";
        Relaxation: {
            kind: components["schemas"]["RelaxKind"];
            change: string;
            /** Format: int64 */
            slots: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            extra_per_hour: number;
            flag: string;
        };
        RelayHere: {
            url: string;
            key: string;
            /** @default  */
            region: string;
        };
        RelayList: {
            items?: components["schemas"]["RelayRow"][];
        };
        RelayRow: {
            url: string;
            region: string;
            /** Format: date-time */
            heard: string;
        };
        ReplayRow: {
            mechanism: string;
            /** Format: int64 */
            rounds: number;
            /** Format: int64 */
            traded_in: number;
            /** Format: int64 */
            slots: number;
            price: number;
            paid: number;
            got: number;
            gain_low: number;
            gain_high: number;
        };
        Replayed: {
            shading: number;
            items?: components["schemas"]["ReplayRow"][];
        };
        /** @enum {string} */
        ReportedOutcome: "completed" | "failed" | "released" | "unstarted";
        Resources: {
            /** @default 1 */
            cores: number;
            /**
             * Format: int64
             * @default 0
             */
            memory_mib: number;
            /** @default 0 */
            gpus: number;
            /**
             * Format: int64
             * @default 0
             */
            gpu_memory_mib: number;
        };
        ResultFile: {
            path: string;
            /** Format: int64 */
            bytes: number;
            part?: number;
        };
        ResultFiles: {
            items?: components["schemas"]["ResultFile"][];
            gone?: string[];
            next?: string;
        };
        Retry: {
            on?: components["schemas"]["RetryOn"][];
            /** @default 10 */
            max: number;
        };
        /** @enum {string} */
        RetryOn: "lost" | "failed";
        Sample: {
            name: string;
            title: string;
            description: string;
            yaml: string;
        };
        Samples: {
            items?: components["schemas"]["Sample"][];
        };
        /** @enum {string} */
        Scope: "user" | "machine" | "operator" | "spend";
        /** @enum {string} */
        Sends: "delta" | "weights";
        ServiceList: {
            items?: components["schemas"]["ServiceRow"][];
        };
        ServiceRow: {
            name: string;
            /**
             * @description Names one job.
             * @example j17
             */
            job: string;
            owner: string;
            callers: components["schemas"]["Callers"];
            model?: string;
            workers: number;
            /** Format: int64 */
            in_work: number;
            /** Format: int64 */
            queued: number;
        };
        Session: {
            account: components["schemas"]["Account"];
            token: string;
            /**
             * @description Names one token.
             * @example t17
             */
            token_id: string;
            /** Format: date-time */
            expires: string;
        };
        Settings: {
            fee: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            signup_bonus: number;
            /** @default true */
            signup_open: boolean;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            term: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            shortest_term: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            drain: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            settle_every: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            silence: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            setup: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            low_escrow: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            history: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            retention: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            pickup: string;
            probes: number;
        };
        SettingsEdit: {
            fee?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            signup_bonus?: number;
            signup_open?: boolean;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            term?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            shortest_term?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            drain?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            settle_every?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            silence?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            setup?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            low_escrow?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            history?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            retention?: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            pickup?: string;
            probes?: number;
        };
        SlotClass: {
            name: string;
            cores: number;
            /** Format: int64 */
            memory_mib: number;
            gpus: number;
            /** Format: int64 */
            gpu_memory_mib: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            suggested: number;
            mechanism: string;
            params?: {
                [key: string]: string;
            };
            /** @default false */
            retired: boolean;
            /** Format: int64 */
            leased: number;
            /** Format: int64 */
            wanted: number;
            trial?: components["schemas"]["Trial"];
            in_force: string;
            /** Format: int64 */
            offered: number;
        };
        SlotClassEdit: {
            cores: number;
            /** Format: int64 */
            memory_mib: number;
            /** @default 0 */
            gpus: number;
            /**
             * Format: int64
             * @default 0
             */
            gpu_memory_mib: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price: number;
            /** @default vickrey */
            mechanism: string;
            params?: {
                [key: string]: string;
            };
            /** @default false */
            retired: boolean;
            trial?: components["schemas"]["Trial"];
        };
        Statement: {
            account: string;
            lines?: components["schemas"]["StatementLine"][];
        };
        StatementLine: {
            /** Format: date-time */
            at: string;
            kind: components["schemas"]["LineKind"];
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            amount: number;
            /**
             * @description Names one job.
             * @example j17
             */
            job?: string;
            /**
             * @description Names one lease.
             * @example l17
             */
            lease?: string;
            memo: string;
        };
        Suggestion: {
            /** Format: date-time */
            from: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            price: number;
        };
        Summary: {
            scenario: string;
            description: string;
            world: components["schemas"]["World"];
            seeds?: number[];
            mechanisms?: components["schemas"]["MechanismSummary"][];
            hash: string;
            version: string;
            reproduce: string;
        };
        Sweep: {
            of: string;
            parameters?: {
                [key: string]: components["schemas"]["SweepParameter"];
            };
            /** @default random */
            method: components["schemas"]["SweepMethod"];
            /** @default 16 */
            trials: number;
            /** @default 4 */
            parallel: number;
            metric: string;
            /** @default maximize */
            goal: components["schemas"]["SweepGoal"];
            /**
             * Format: int64
             * @default 1
             */
            seed: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            trial_budget?: number;
            /** @default 1 */
            min_epochs: number;
            /** @default 3 */
            eta: number;
        };
        /** @enum {string} */
        SweepGoal: "maximize" | "minimize";
        /** @enum {string} */
        SweepMethod: "grid" | "random" | "asha";
        SweepParameter: {
            values?: string[];
            scale?: components["schemas"]["SweepScale"];
            low?: number;
            high?: number;
            steps?: number;
        };
        /** @enum {string} */
        SweepScale: "uniform" | "log" | "whole";
        SweepStatus: {
            sweep: components["schemas"]["Sweep"];
            trials?: components["schemas"]["SweepTrial"][];
            best?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            budget: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            spent: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            free: number;
        };
        SweepTrial: {
            number: number;
            /**
             * @description Names one job.
             * @example j17
             */
            job: string;
            state: components["schemas"]["TrialState"];
            parameters?: {
                [key: string]: string;
            };
            epoch: number;
            value?: number;
            rungs?: components["schemas"]["TrialRung"][];
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            spent: number;
            reason: string;
        };
        /** @enum {string} */
        SybilProofness: "none" | "for_buyers" | "on_one_side" | "within_round";
        TensorInfo: {
            name: string;
            shape?: number[];
            /** @default false */
            state: boolean;
        };
        TimeSpent: {
            /**
             * @description A length of time.
             * @example 1h30m
             */
            compute: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            checking: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            prepare: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            fetch: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            download: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            upload: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            waiting: string;
        };
        Token: {
            /**
             * @description Names one token.
             * @example t17
             */
            id: string;
            scope: components["schemas"]["Scope"];
            /**
             * @description Names one machine.
             * @example m17
             */
            machine?: string;
            label: string;
            /** Format: date-time */
            created: string;
            /** Format: date-time */
            expires?: string;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            limit?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            spent?: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            reserved?: number;
        };
        Train: {
            /** @default torch */
            trainer: components["schemas"]["Trainer"];
            config?: {
                [key: string]: string;
            };
            /** @default  */
            rule: string;
            rule_params?: {
                [key: string]: number;
            };
            /** @default fp32 */
            codec: string;
            validators?: string[];
            /** @default 0 */
            replicate: number;
            epochs: number;
            target?: components["schemas"]["TrainTarget"];
            /** @default 32 */
            batch: number;
            /** @default 0.05 */
            lr: number;
            lr_end?: number;
            lr_warmup?: number;
            /** @default 0 */
            local_steps: number;
            /** @default 1 */
            validations: number;
            /**
             * Format: int64
             * @default 1
             */
            seed: number;
            shards?: components["schemas"]["TrainShard"][];
            validation?: components["schemas"]["TrainShard"][];
            /** @default false */
            measure: boolean;
            /** @default 8 */
            local_batch: number;
            local_state?: components["schemas"]["LocalState"];
            average?: components["schemas"]["Average"];
        };
        TrainFigure: {
            name: string;
            /** @default false */
            below: boolean;
            value?: number;
        };
        TrainRow: {
            epoch: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            at: string;
            /** Format: int64 */
            samples: number;
            /** Format: int64 */
            version: number;
            loss: number;
            validation_loss: number;
            accuracy?: number;
            mean?: number;
            low?: number;
            high?: number;
            workers: number;
            metrics?: {
                [key: string]: number;
            };
        };
        TrainShard: {
            blob: string;
            /** Format: int64 */
            samples: number;
        };
        TrainTarget: {
            accuracy?: number;
            metric?: string;
            at_least?: number;
            at_most?: number;
        };
        TrainWorker: {
            worker: string;
            /** Format: int64 */
            units: number;
            /** Format: int64 */
            steps: number;
            /** Format: int64 */
            lost: number;
            /** Format: int64 */
            rejected: number;
            steps_per_second: number;
            spent: components["schemas"]["TimeSpent"];
            /** @default  */
            codec: string;
        };
        /** @enum {string} */
        Trainer: "torch" | "python";
        Training: {
            state: components["schemas"]["TrainingState"];
            reason: string;
            rule: string;
            epoch: number;
            epochs: number;
            progress: number;
            /** Format: int64 */
            version: number;
            /** Format: int64 */
            samples: number;
            loss: number;
            accuracy?: number;
            target?: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            elapsed: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            left?: string;
            workers: number;
            /** Format: int64 */
            wasted_steps: number;
            /** Format: int64 */
            useful_steps: number;
            /** Format: int64 */
            bytes_in: number;
            /** Format: int64 */
            bytes_out: number;
            rows?: components["schemas"]["TrainRow"][];
            by_worker?: components["schemas"]["TrainWorker"][];
            spent: components["schemas"]["TimeSpent"];
            by_batch?: components["schemas"]["BatchTime"][];
            /** Format: int64 */
            folds: number;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            folding: string;
            confirmed?: boolean;
            figure?: components["schemas"]["TrainFigure"];
        };
        TrainingChoices: {
            models?: components["schemas"]["Choice"][];
            data?: components["schemas"]["Choice"][];
            rules?: components["schemas"]["Aggregator"][];
            codecs?: components["schemas"]["Choice"][];
            validators?: components["schemas"]["Choice"][];
        };
        /** @enum {string} */
        TrainingState: "waiting" | "training" | "finished";
        Treatment: {
            /** Format: int64 */
            borrowers: number;
            /** Format: int64 */
            ended: number;
            gini_credits?: number;
            gini_access?: number;
            defection?: number;
            completed?: number;
        };
        Trial: {
            mechanism: string;
            params?: {
                [key: string]: string;
            };
            /**
             * @description A length of time.
             * @default 1h
             * @example 1h30m
             */
            slice: string;
        };
        TrialRung: {
            epoch: number;
            value?: number;
            /** @default true */
            on: boolean;
        };
        /** @enum {string} */
        TrialState: "waiting" | "running" | "paused" | "stopped" | "succeeded" | "failed" | "cancelled";
        /** @enum {string} */
        Truthfulness: "none" | "in_units" | "for_buyers" | "in_price" | "in_price_and_units" | "for_single_minded";
        Unit: {
            kind: components["schemas"]["UnitKind"];
            /** Format: int64 */
            id: number;
            shard: string;
            /** Format: int64 */
            version: number;
            pass: number;
            /** Format: int64 */
            first_step: number;
            /** Format: int64 */
            steps: number;
            batch: number;
            lr: number;
            /** Format: int64 */
            seed: number;
            send: components["schemas"]["Sends"];
            state_scale: number;
            /** @default 0 */
            own: number;
            codec: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            within: string;
            /**
             * @description A length of time.
             * @example 1h30m
             */
            wait: string;
            hub?: components["schemas"]["UnitHub"];
            /** @default false */
            keep: boolean;
            /** @default false */
            measure: boolean;
        };
        UnitAsk: {
            epoch: number;
            holds?: string[];
            spent?: components["schemas"]["TimeSpent"];
            /** Format: int64 */
            keeps?: number;
        };
        UnitDone: {
            epoch: number;
            /**
             * Format: int64
             * @default 0
             */
            base: number;
            /**
             * Format: int64
             * @default 0
             */
            steps: number;
            /**
             * Format: int64
             * @default 0
             */
            samples: number;
            /** @default 0 */
            loss: number;
            metrics?: {
                [key: string]: number;
            };
            tensors?: components["schemas"]["TensorInfo"][];
            error?: string;
            /** Format: int64 */
            bytes?: number;
        };
        UnitHub: {
            url: string;
            update: string;
            ticket: string;
            pinned?: string;
        };
        /** @enum {string} */
        UnitKind: "wait" | "init" | "train" | "evaluate" | "finish";
        UnitVerdict: {
            /** @default false */
            accepted: boolean;
            reason: string;
            /**
             * @description A length of time.
             * @default 0s
             * @example 1h30m
             */
            worked: string;
        };
        UnprovedMachine: {
            /**
             * @description Names one offer.
             * @example o17
             */
            offer: string;
            /**
             * @description Names one machine.
             * @example m17
             */
            machine: string;
            name: string;
            busy?: components["schemas"]["BusyCores"];
        };
        Usage: {
            cpu_seconds: number;
            /** Format: int64 */
            memory_bytes: number;
            /** Format: int64 */
            memory_peak_bytes: number;
            /** Format: int64 */
            scratch_bytes: number;
            /** Format: int64 */
            received_bytes: number;
            /** Format: int64 */
            sent_bytes: number;
            gpu_seconds?: number;
            /** Format: int64 */
            gpu_memory_bytes?: number;
        };
        UsageSample: {
            /** Format: date-time */
            at: string;
            usage: components["schemas"]["Usage"];
        };
        VolumeContent: {
            name: string;
            blob?: string;
        };
        VolumeList: {
            items?: components["schemas"]["VolumeRow"][];
        };
        VolumeRow: {
            name: string;
            blob: string;
            /** Format: date-time */
            saved: string;
            /**
             * @description Names one job.
             * @example j17
             */
            job: string;
            /**
             * @description Names one job.
             * @example j17
             */
            in_use?: string;
        };
        VolumeSave: {
            epoch: number;
            name: string;
            blob: string;
        };
        WeekEarnings: {
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            expected: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            low: number;
            /**
             * @description Credits, with at most six decimals.
             * @example 0.4
             */
            high: number;
        };
        Wheel: {
            url: string;
            sha256: string;
            /** Format: int64 */
            size?: number;
        };
        Why: {
            /**
             * @description Names one job.
             * @example j17
             */
            job: string;
            state: components["schemas"]["JobState"];
            summary: string;
            /** Format: int64 */
            needed: number;
            /** Format: int64 */
            matching: number;
            groups?: components["schemas"]["WhyGroup"][];
            relaxations?: components["schemas"]["Relaxation"][];
            nearly?: components["schemas"]["NearMachine"][];
            unproved?: components["schemas"]["UnprovedMachine"][];
        };
        WhyGroup: {
            obstacles?: components["schemas"]["Obstacle"][];
            /** Format: int64 */
            offers: number;
            /** Format: int64 */
            slots: number;
            /**
             * @description Names one offer.
             * @example o17
             */
            example: string;
        };
        /** @enum {string} */
        WorkerState: "waiting" | "preparing" | "running" | "draining" | "done" | "ready";
        WorkerStatus: {
            index: number;
            state: components["schemas"]["WorkerState"];
            tries: number;
            /**
             * @description Names one lease.
             * @example l17
             */
            lease?: string;
            machine?: string;
            doing?: string;
            checkpoint?: string;
            result?: string;
        };
        Workers: {
            min: number;
            max: number;
        };
        /** @enum {string} */
        World: "book" | "market";
    };
    responses: {
        /** @description The request was refused or failed; the body says why. */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
        IdempotencyKey: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The process answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The market takes requests: its core and journal keep up */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Health"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description This document */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAgent: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a computer without souk fetches to lend */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentBundle"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAgentBundle: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Souk for Linux on x86_64, with its libraries: a .tar.gz */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/gzip": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAgentTrainer: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The built-in trainer for Linux on x86_64, with its libraries: a .tar.zst */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLendScript: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A shell script that installs souk and lends: curl -fsS MARKET/lend | sh -s TOKEN */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getMetrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prometheus metrics, for loopback and operators */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getEvents: {
        parameters: {
            query?: {
                /** @description The number of the last event seen. */
                after?: string;
                /** @description Long poll: how long to wait at most, 30s. */
                wait?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What happens, as it happens: server-sent events, or with Accept: application/json a long poll */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Notices"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listAccounts: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All accounts */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageAccount"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createAccount: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewAccount"];
            };
        };
        responses: {
            /** @description Sign up */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    login: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Login"];
            };
        };
        responses: {
            /** @description Exchange a password for a token */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    logout: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End the session that this request belongs to */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    changePassword: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewPassword"];
            };
        };
        responses: {
            /** @description Change my password; all my other sessions end, those of machines go on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getMe: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description My account */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getAccount: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One account: one's own, or an operator any */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    grantCredits: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Grant"];
            };
        };
        responses: {
            /** @description Create credits for an account, or for the platform, which pays sign-up bonuses */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Balance"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    freezeAccount: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Freeze"];
            };
        };
        responses: {
            /** @description Stop an account: its jobs pause, its offers trade no more */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    thawAccount: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Let a frozen account go on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Account"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTokens: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description My tokens */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageToken"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewToken"];
            };
        };
        responses: {
            /** @description A new token: for myself, for one of my machines, or one that can spend so many credits */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IssuedToken"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    revokeTokens: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End all my tokens: log out everywhere */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    revokeToken: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End a token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getBudgets: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What an account uses of its budgets: one's own, or an operator any */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BudgetUses"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listClasses: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The slot classes, those with the most on offer first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageSlotClass"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    setClass: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SlotClassEdit"];
            };
        };
        responses: {
            /** @description Add or edit a slot class, and how it is cleared */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SlotClass"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    compareMechanisms: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What each mechanism did for a class while it was in force */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MechanismRecords"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listMechanisms: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The mechanisms by which a class can be cleared, their properties and parameters */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Mechanisms"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listMachines: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
                /** @description Operators: everybody's. */
                all?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description My machines; for a machine's token that machine; for an operator who asks all of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageMachine"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    addMachine: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMachine"];
            };
        };
        responses: {
            /** @description Add a machine to lend */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Machine"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getMachine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One of my machines */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Machine"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    removeMachine: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove a machine that has no offers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    editMachine: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MachineEdit"];
            };
        };
        responses: {
            /** @description Rename a machine, or tell what it has now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Machine"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listOffers: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
                /** @description A filter: gpu=A100 and vram>=40 and price<1 */
                where?: string;
                /** @description Only my own offers. */
                mine?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is on offer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OfferPage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    postOffer: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewOffer"];
            };
        };
        responses: {
            /** @description Offer slots of a machine */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Offer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getOffer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One offer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Offer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    removeOffer: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Remove an offer without leases */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    editOffer: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OfferEdit"];
            };
        };
        responses: {
            /** @description Change price, slots or windows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Offer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    pauseOffer: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Pause"];
            };
        };
        responses: {
            /** @description Take no leases for a while; who is on it gets notice */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Offer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    resumeOffer: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description End a pause */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Offer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    drainOffer: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Take no new leases; the present ones run to the end of their terms */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Offer"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listJobs: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
                /** @description Only jobs in this state. */
                state?: "queued" | "running" | "paused" | "succeeded" | "failed" | "cancelled" | "expired";
                /** @description Operators: everybody's. */
                all?: boolean;
                /** @description Trials of sweeps, too. */
                trials?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description My jobs, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageJob"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    submitJob: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewJob"];
            };
        };
        responses: {
            /** @description Submit a job: its budget goes into escrow */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    planJob: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewJob"];
            };
        };
        responses: {
            /** @description What a job would take and cost on the machines on offer; changes nothing and needs none of its files */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobPlan"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One of my jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    editJob: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JobEdit"];
            };
        };
        responses: {
            /** @description Change limits, workers or constraints of a live job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listParts: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The workers of a batch job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageWorkerStatus"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSweep: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trials of a sweep */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SweepStatus"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    pauseJob: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Give all workers back for now */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    resumeJob: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Bid again */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    cancelJob: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Cancel"];
            };
        };
        responses: {
            /** @description End a job; what is left of its budget returns */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Job"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    whyJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Why it does not run, and the cheapest ways out */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Why"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listJobLeases: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description All leases of a job */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageLease"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listLeases: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
                /** @description Only those of this machine: m1. */
                machine?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description My leases, as lender and as borrower; for a machine's token that machine's */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageLease"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    startLease: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseStart"];
            };
        };
        responses: {
            /** @description The work runs: billing begins */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    finishLease: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseFinish"];
            };
        };
        responses: {
            /** @description The work ended, or the lender takes the slots back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Lease"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    checkpointLease: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseCheckpoint"];
            };
        };
        responses: {
            /** @description Whoever continues this work begins here */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    saveVolume: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["VolumeSave"];
            };
        };
        responses: {
            /** @description What is in a volume of the job from now on */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    heartbeat: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Heartbeat"];
            };
        };
        responses: {
            /** @description The machine is alive and holds these leases */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Orders"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What its workers use, over time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobUsage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getMachineUsage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the programs of its latest leases use, over time */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobUsage"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listForecasts: {
        parameters: {
            query?: {
                /** @description 1 to 500, 50 by default. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forecasts of jobs that have ended, beside what came of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageForecastOutcome"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getWork: {
        parameters: {
            query?: {
                /** @description The version seen last: wait while it is the same. */
                seen?: string;
                /** @description How long to wait at most: 30s. */
                wait?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The machine's open leases; waits for a change */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenLeases"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    answerChallenge: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChallengeAnswer"];
            };
        };
        responses: {
            /** @description The result of a computation that a heartbeat's answer asked for */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChallengeVerdict"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    missingBlobs: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlobNames"];
            };
        };
        responses: {
            /** @description Which of these chunks are still to be sent */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlobNames"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getBlob: {
        parameters: {
            query?: {
                /** @description It is needed for this lease of the machine: l1. */
                lease?: string;
                /** @description It is a result of this job: j1. */
                job?: string;
                /** @description 1: the answer may be 307 and the address, for two minutes, of the store that has the chunk. Send no token there. */
                direct?: string;
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One chunk: of your own, or what the query gives a right to */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    putBlob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description Store a chunk (blob/chunk.h) under the digest of its content */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    cleanBlobs: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlobCleaning"];
            };
        };
        responses: {
            /** @description Operators: remove the files that nobody used for longest and no live job needs, until so many bytes are free. Answers with what was freed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlobCleaning"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLog: {
        parameters: {
            query?: {
                /** @description Where to begin: the `next` of the answer before. */
                from?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What the program of a lease printed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Log"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    appendLog: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LogPiece"];
            };
        };
        responses: {
            /** @description What the program printed */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogSize"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    shareChunks: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChunkSharing"];
            };
        };
        responses: {
            /** @description The machine gives files of its jobs to other machines with leases of the same jobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    findPeers: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlobNames"];
            };
        };
        responses: {
            /** @description Which of these chunks of the lease's files another machine has. The rest: GET /v1/blobs */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunkPeers"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    joinNetwork: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NetworkJoin"];
            };
        };
        responses: {
            /** @description A worker of a gang is there; gives those who are, too */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NetworkView"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    meetWorker: {
        parameters: {
            query: {
                /** @description The other worker. */
                to: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A way to another worker of the gang through this server: the connection leaves HTTP (101) */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    listRelays: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Relays at which machines of gangs may meet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RelayList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    announceRelay: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RelayHere"];
            };
        };
        responses: {
            /** @description A relay at which machines of gangs may meet */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    callServiceGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                /** @description All that follows, with its slashes. */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A request to a service: its program answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    callServicePut: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                /** @description All that follows, with its slashes. */
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description A request to a service: its program answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    callServicePost: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                /** @description All that follows, with its slashes. */
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description A request to a service: its program answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    callServiceDelete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                /** @description All that follows, with its slashes. */
                path: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A request to a service: its program answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    callServicePatch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                name: string;
                /** @description All that follows, with its slashes. */
                path: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description A request to a service: its program answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listServices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Services that I may call */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ServiceList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    chatCompletions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description As in OpenAI's API: the service with that model answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    completions: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": unknown;
            };
        };
        responses: {
            /** @description As in OpenAI's API: the service with that model answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listModels: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Language models that I may use, as in OpenAI's API */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    parkLine: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A line to the lease's program, to be used by whoever may talk to it: the connection leaves HTTP (101) */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    connectJob: {
        parameters: {
            query?: {
                /** @description Which of its workers; 0 by default. */
                worker?: number;
                /** @description Of the program; absent: its terminal. */
                port?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A way to a port, or to the terminal, of my job's program: the connection leaves HTTP (101) */
            101: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            default: components["responses"]["Problem"];
        };
    };
    listVolumes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description My volumes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VolumeList"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    removeVolume: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forget what is in a volume of mine */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Acknowledged"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listFiles: {
        parameters: {
            query?: {
                /** @description Files in an answer: 1 to 10000, 1000 by default. */
                limit?: number;
                /** @description The `next` of the answer before. */
                after?: string;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The files that a job and its workers left */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResultFiles"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getFile: {
        parameters: {
            query: {
                /** @description As in the list. */
                path: string;
                /** @description As in the list: of this worker. */
                part?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One of these files, of 256 MiB at most */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    prepareJob: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JobDraft"];
            };
        };
        responses: {
            /** @description A job file as a job that can be planned and submitted: what it names is put on the server. Changes nothing in the market */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreparedJob"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listSamples: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Job files to begin with */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Samples"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listTrainingChoices: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Models, data, aggregators, codecs and validators that a training can name */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TrainingChoices"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    askUnit: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UnitAsk"];
            };
        };
        responses: {
            /** @description Something for a training worker to do */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Unit"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    putUnit: {
        parameters: {
            query?: {
                /** @description Of the lease. */
                epoch?: number;
                /** @description Where the piece belongs. */
                offset?: number;
            };
            header?: never;
            path: {
                id: string;
                unit: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": unknown;
            };
        };
        responses: {
            /** @description A piece of a unit's update (train/update.h) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LogSize"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    finishUnit: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
                unit: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UnitDone"];
            };
        };
        responses: {
            /** @description What became of a unit */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UnitVerdict"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getParameters: {
        parameters: {
            query?: {
                /** @description Of the lease. */
                epoch?: number;
                /** @description The version that the worker has. */
                since?: number;
                /** @description This version, which is under check. */
                version?: number;
                /** @description A piece only, from this block on. It says where the next begins. */
                from?: number;
                /** @description The version of the pieces before, if there were. */
                at?: number;
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The parameters that changed (train/pull.h) */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getTraining: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description How far a training is */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Training"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getPrices: {
        parameters: {
            query?: {
                /** @description The slot class; the one with the most on offer by default. */
                class?: string;
                /** @description How far back: 7 by default. */
                days?: number;
                /** @description Buckets: hour (default) or day. */
                by?: "hour" | "day";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Prices paid for a class, and suggested ones */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Prices"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getBook: {
        parameters: {
            query?: {
                /** @description The slot class; the one with the most on offer by default. */
                class?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is asked and bid for a class now, by price and without names */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Book"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLedger: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Balances, the platform's and the mint's too; they sum to 0 */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ledger"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getStatement: {
        parameters: {
            query?: {
                /** @description Operators: whose. */
                account?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Movements of an account with their reasons, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Statement"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getSettings: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The market's settings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    editSettings: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettingsEdit"];
            };
        };
        responses: {
            /** @description Change settings */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Settings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listAudit: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What operators did, newest first */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageAuditEntry"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listFeedback: {
        parameters: {
            query?: {
                /** @description Items on a page: 1 to 500, 50 by default. */
                limit?: number;
                /** @description The `next` of the page before. */
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Comments: one's own, for an operator everybody's */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageFeedback"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    giveFeedback: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewFeedback"];
            };
        };
        responses: {
            /** @description Tell the operator something */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Feedback"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getFaq: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Frequently asked questions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Faq"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listCreditRequests: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Requests for credits: one's own last, for an operator everybody's */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditRequests"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    requestCredits: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewCreditRequest"];
            };
        };
        responses: {
            /** @description Ask the operator for credits; replaces one's own open request */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditRequest"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    answerCreditRequest: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreditAnswer"];
            };
        };
        responses: {
            /** @description Grant what an account asked for, or a part of it, or decline; with a word */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreditRequest"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getEarnings: {
        parameters: {
            query?: {
                /** @description Of the machine; without any of these, one slot each. */
                cores?: number;
                /** @description Its memory. */
                memory_mib?: number;
                /** @description Its GPUs. */
                gpus?: number;
                /** @description The memory of each GPU. */
                gpu_memory_mib?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What a machine would earn in a week, by class, from what was wanted and paid of late */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Earnings"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listLabScenarios: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Scenarios to begin with, and how large a run may be */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabScenarios"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    listLabRuns: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description My runs, newest first, without what came of them */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageLabRun"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    newLabRun: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewLabRun"];
            };
        };
        responses: {
            /** @description Run a scenario under its mechanisms */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabRun"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    newLabReplay: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewLabReplay"];
            };
        };
        responses: {
            /** @description Clear this market's own rounds again under other mechanisms */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabRun"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLabRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A run: how far it is, or what came of it */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabRun"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    removeLabRun: {
        parameters: {
            query?: never;
            header: {
                /** @description Any text that is new for every new request. For 24 hours, whatever the load, a request with a key that the account has used is not applied again. A repeat gets the first answer (Idempotent-Replay: true) while that is kept: for an hour, if it is not longer than 16 KiB and the account did not make very many. After that it gets a 409 that says that the request was applied and what it made. Another request under the same key gets a 409 too. A key older than 24 hours is forgotten: do not retry a request for so long. */
                "Idempotency-Key": components["parameters"]["IdempotencyKey"];
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Cancel a run, or forget one that is finished */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LabRun"];
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLabReport: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page that shows what came of a scenario */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
    getLabTrades: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Every trade of a scenario */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/csv": string;
                };
            };
            default: components["responses"]["Problem"];
        };
    };
}
