// The types of this API. `UPDATE_API_TYPES=1 npm test -- test/dashboard/api-types` writes this file.

export interface paths {
    "/api/v1/artifacts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["artifactsList"];
        put?: never;
        post: operations["artifactsPublish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifacts/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["artifactsPublishAndWait"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifacts/summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["artifactsSummarize"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifacts/{artifact_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["artifactsGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifacts/{artifact_id}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["artifactsExplain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifact-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["artifactTypesList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifact-types/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["artifactTypesGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/correlations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["correlationsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/correlations/{correlation_id}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["correlationsStatus"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/correlations/{correlation_id}/trace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["correlationsTrace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/correlations/{correlation_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["correlationsCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["compareCompare"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/correlations/{correlation_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["replaysOfCorrelation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/artifacts/{artifact_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["replaysOfArtifact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/experiments": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["experimentsList"];
        put?: never;
        post: operations["experimentsCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/experiments/{experiment_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["experimentsGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/experiments/{experiment_id}/rows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["experimentsRows"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/experiments/{experiment_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["experimentsCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["agentsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_name}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["agentsRun"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["agentsPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["agentsResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/agents/{agent_id}/history-summary": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["agentsSummarizeHistory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["agentNamesList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/activity": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["activityRead"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["executionsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["executionsListFailures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{execution_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["executionsGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{execution_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["executionsRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["externalWorkClaim"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{execution_id}/claim": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["externalWorkClaimOne"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{execution_id}/heartbeat": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["externalWorkHeartbeat"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{execution_id}/release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["externalWorkRelease"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{execution_id}/complete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["externalWorkComplete"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/{execution_id}/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["externalWorkFail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/definitions/{digest}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["definitionsGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["operationsRetry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/executions/fail": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["operationsFail"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["operationsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{operation_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["operationsGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{operation_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["operationsCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["limitsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/limits/{limit_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["limitsGet"];
        put: operations["limitsSet"];
        post?: never;
        delete: operations["limitsReset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/limits/{limit_name}/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["limitsKeys"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["schedulesList"];
        put?: never;
        post: operations["schedulesCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["schedulesGet"];
        put: operations["schedulesReplace"];
        post?: never;
        delete: operations["schedulesRemove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_name}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["schedulesPause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_name}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["schedulesResume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_name}/trigger": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["schedulesTrigger"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_name}/backfill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["schedulesBackfill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_name}/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["schedulesPreview"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/schedules/{schedule_name}/ticks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["schedulesTicks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/correlations/{correlation_id}/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["correlationWaitingOfCorrelation"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/waiting": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["waitingGroups"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/waiting/{group_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["waitingGroup"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/run/flock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["runsStart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/run/{run_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["runsGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/run/{run_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["runsCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["runsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/run/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["batchesCreate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/batch/{batch_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["batchesGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/batch/{batch_id}/results": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["batchesResults"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/batch/{batch_id}/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["batchesFailures"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/batch/{batch_id}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["batchesCancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/batch/{batch_id}/retry-failed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["batchesRetryFailed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["batchesList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changelog/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["changelogList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/changelog/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["changelogStream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["webhooksList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["webhooksGet"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["webhooksRedeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/webhooks/targets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["webhookTargetsList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/mcp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["mcpReceive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["processesList"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["healthHealth"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["healthReady"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health/live": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["healthLive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["docsOpenApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["docsSwaggerUi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/redoc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["docsRedoc"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/docs/{file}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["docsFile"];
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
        get: operations["metricsMetrics"];
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
        WebhookRequest: {
            /** Format: uri */
            url: string;
            secret?: string;
        };
        PublishRequest: {
            type: string;
            payload?: components["schemas"]["Payload"];
            tags?: string[];
            partition_key?: string | null;
            visibility?: components["schemas"]["Visibility"];
            deadline?: string;
            webhook?: components["schemas"]["WebhookRequest"];
        };
        AcceptedBody: {
            /** @enum {string} */
            status: "accepted";
        };
        ProducedFilters: {
            type_names?: string[];
            produced_by?: string[];
        };
        SyncPublishRequest: {
            type: string;
            payload?: components["schemas"]["Payload"];
            tags?: string[];
            partition_key?: string | null;
            visibility?: components["schemas"]["Visibility"];
            deadline?: string;
            webhook?: components["schemas"]["WebhookRequest"];
            timeout?: number;
            filters?: components["schemas"]["ProducedFilters"];
        };
        ArtifactBody: {
            /** Format: uuid */
            id: string;
            type: string;
            payload: {
                [key: string]: unknown;
            };
            produced_by: string;
            /** Format: uuid */
            execution_id: string | null;
            visibility: components["schemas"]["Visibility"];
            /** @enum {string} */
            visibility_kind: "Public" | "Private" | "Labelled" | "Tenant" | "After";
            /** Format: date-time */
            created_at: string;
            correlation_id: string;
            partition_key: string | null;
            tags: string[];
            version: number;
        };
        SyncPublishBody: {
            correlation_id: string;
            artifacts: components["schemas"]["ArtifactBody"][];
            completed: boolean;
            duration_ms: number;
        };
        ConsumptionBody: {
            consumer: string;
            /** Format: uuid */
            run_id: string;
            /** Format: date-time */
            consumed_at: string;
        };
        ListedArtifactBody: {
            /** Format: uuid */
            id: string;
            type: string;
            payload: {
                [key: string]: unknown;
            };
            produced_by: string;
            /** Format: uuid */
            execution_id: string | null;
            visibility: components["schemas"]["Visibility"];
            /** @enum {string} */
            visibility_kind: "Public" | "Private" | "Labelled" | "Tenant" | "After";
            /** Format: date-time */
            created_at: string;
            correlation_id: string;
            partition_key: string | null;
            tags: string[];
            version: number;
            consumptions?: components["schemas"]["ConsumptionBody"][];
            consumed_by?: string[];
        };
        PaginationBody: {
            limit: number;
            offset: number;
            total: number;
        };
        ArtifactListBody: {
            items: components["schemas"]["ListedArtifactBody"][];
            pagination: components["schemas"]["PaginationBody"];
        };
        SummaryContent: {
            total_count: number;
            by_type: {
                [key: string]: number;
            };
            by_producer: {
                [key: string]: number;
            };
            by_visibility: {
                [key: string]: number;
            };
            by_tag?: {
                [key: string]: number;
            };
            /** Format: date-time */
            earliest_created_at: string | null;
            /** Format: date-time */
            latest_created_at: string | null;
        };
        SummaryBody: {
            summary: components["schemas"]["SummaryContent"];
        };
        VerdictBody: {
            agent: string;
            subscription: number | null;
            /** @enum {string} */
            verdict: "triggered" | "invoked" | "join_waiting" | "join_undecided" | "window_filling" | "not_released" | "type" | "own_output" | "producer" | "tag" | "visibility" | "where_false" | "where_error" | "key_null" | "key_error" | "limit" | "join_expired" | "join_let_go" | "agent_removed" | "cancelled" | "not_offered" | "not_recorded";
            detail: string;
            /** Format: uuid */
            execution_id?: string;
            /** @enum {string} */
            execution_state?: "pending" | "running" | "completed" | "failed" | "cancelled";
            execution_correlation_id?: string;
            waiting_for?: string[];
            join_key?: string;
            size?: number;
            size_needed?: number | null;
            /** Format: date-time */
            since?: string;
            /** Format: date-time */
            until?: string | null;
            /** Format: uuid */
            error_artifact_id?: string;
        };
        CancelVerdictBody: {
            agent: string;
            /** @enum {string} */
            verdict: "cancels" | "own_output" | "visibility" | "key_null" | "key_error" | "not_offered" | "from_record";
            detail: string;
        };
        ExplanationBody: {
            /** Format: uuid */
            artifact_id: string;
            type: string;
            produced_by: string;
            correlation_id: string;
            verdicts: components["schemas"]["VerdictBody"][];
            cancels?: components["schemas"]["CancelVerdictBody"][];
        };
        ArtifactTypeBody: {
            name: string;
            version: number;
            schema: {
                [key: string]: unknown;
            } | null;
            description: string;
        };
        ArtifactTypesBody: {
            artifact_types: components["schemas"]["ArtifactTypeBody"][];
        };
        UsageBody: {
            input_tokens: number;
            output_tokens: number;
            cost?: number;
        };
        ListedCorrelationBody: {
            correlation_id: string;
            origin?: string;
            /** @enum {string} */
            origin_kind?: "correlation" | "experiment";
            /** @enum {string} */
            replay_mode?: "full" | "recorded" | "shadow";
            configuration?: string;
            overrides?: {
                [key: string]: {
                    expression?: string;
                    instructions?: string;
                    temperature?: number;
                    max_output_tokens?: number;
                    model?: string;
                };
            };
            /** @enum {string} */
            state: "active" | "completed" | "failed" | "cancelled";
            has_pending_work: boolean;
            artifact_count: number;
            error_count: number;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            last_activity_at: string;
            waiting_for_agents?: string[];
            usage?: components["schemas"]["UsageBody"];
            pending_count: number;
            /** Format: date-time */
            settled_at: string | null;
            duration_ms: number | null;
        };
        NextPageBody: {
            limit: number;
            after: string | null;
            next: string | null;
            has_more: boolean;
        };
        CorrelationListBody: {
            items: components["schemas"]["ListedCorrelationBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        CorrelationStatusBody: {
            correlation_id: string;
            origin?: string;
            /** @enum {string} */
            origin_kind?: "correlation" | "experiment";
            /** @enum {string} */
            replay_mode?: "full" | "recorded" | "shadow";
            configuration?: string;
            overrides?: {
                [key: string]: {
                    expression?: string;
                    instructions?: string;
                    temperature?: number;
                    max_output_tokens?: number;
                    model?: string;
                };
            };
            /** @enum {string} */
            state: "active" | "completed" | "failed" | "cancelled" | "not_found";
            has_pending_work: boolean;
            artifact_count: number;
            error_count: number;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            last_activity_at: string | null;
            waiting_for_agents?: string[];
            usage?: components["schemas"]["UsageBody"];
        };
        TracedArtifactBody: {
            /** Format: uuid */
            id: string;
            type: string;
            produced_by: string;
            /** Format: uuid */
            execution_id: string | null;
            /** Format: date-time */
            created_at: string;
            input_of: string[];
        };
        TracedAttemptBody: {
            attempt: number;
            round: number;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            error_type: string | null;
            error_message: string | null;
            cause?: string;
            stack?: string;
        };
        TracedExecutionBody: {
            /** Format: uuid */
            id: string;
            agent: string;
            subscription: number;
            invoked: boolean;
            correlation_id: string;
            generation: number;
            /** @enum {string} */
            state: "pending" | "running" | "completed" | "failed" | "cancelled";
            without_agent?: boolean;
            /** @enum {string} */
            replay?: "run" | "recorded" | "unanswered";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            attempts: components["schemas"]["TracedAttemptBody"][];
            error_type: string | null;
            error_message: string | null;
            cause?: string;
            stack?: string;
            /** Format: uuid */
            cancelled_by?: string;
            /** Format: uuid */
            cached_from?: string;
            /** Format: uuid */
            skipped_for?: string;
            /** Format: uuid */
            superseded_by?: string;
            variant?: string;
            assignee: string | null;
            claimed_by: string | null;
            /** Format: date-time */
            lease_until: string | null;
            /** Format: date-time */
            due_at: string | null;
            inputs: string[];
            outputs: string[];
            truncated: boolean;
        };
        TraceBody: {
            correlation_id: string;
            /** @enum {string} */
            replay_mode?: "full" | "recorded" | "shadow";
            /** @enum {string} */
            state: "active" | "completed" | "failed" | "cancelled";
            generation: number;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            last_activity_at: string;
            /** Format: date-time */
            settled_at: string | null;
            artifact_count: number;
            error_count: number;
            artifacts: components["schemas"]["TracedArtifactBody"][];
            executions: components["schemas"]["TracedExecutionBody"][];
            truncated: boolean;
        };
        ComparedCorrelationBody: {
            correlation_id: string;
            /** @enum {string} */
            state: "active" | "completed" | "failed" | "cancelled";
            artifact_count: number;
            error_count: number;
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            settled_at: string | null;
            duration_ms: number | null;
            usage?: components["schemas"]["UsageBody"];
            truncated: boolean;
        };
        AgentTotalsBody: {
            executions: number;
            failed: number;
            attempts: number;
            duration_ms: number;
            usage?: components["schemas"]["UsageBody"];
        };
        ComparedAgentBody: {
            agent: string;
            left?: components["schemas"]["AgentTotalsBody"];
            right?: components["schemas"]["AgentTotalsBody"];
        };
        ComparedExecutionBody: {
            /** Format: uuid */
            id: string;
            /** @enum {string} */
            state: "pending" | "running" | "completed" | "failed" | "cancelled";
            attempts: number;
            duration_ms: number | null;
            usage?: components["schemas"]["UsageBody"];
        };
        ComparedArtifactBody: {
            /** Format: uuid */
            id: string;
            /** Format: date-time */
            created_at: string;
            execution?: components["schemas"]["ComparedExecutionBody"];
        };
        PayloadChangeBody: {
            /** @enum {string} */
            op: "add" | "remove" | "replace";
            path: string;
            left?: string;
            right?: string;
            shortened?: boolean;
        };
        ComparedPairBody: {
            /** @enum {string} */
            result: "equal" | "changed" | "only_left" | "only_right";
            type: string;
            produced_by: string;
            moved: boolean;
            left?: components["schemas"]["ComparedArtifactBody"];
            right?: components["schemas"]["ComparedArtifactBody"];
            changes: components["schemas"]["PayloadChangeBody"][];
            changes_left_off: number;
        };
        ComparisonBody: {
            left: components["schemas"]["ComparedCorrelationBody"];
            right: components["schemas"]["ComparedCorrelationBody"];
            agents: components["schemas"]["ComparedAgentBody"][];
            paired: number;
            only_left: number;
            only_right: number;
            items: components["schemas"]["ComparedPairBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        ReplayRequest: {
            /** @enum {string} */
            mode: "full" | "recorded" | "shadow";
            configuration?: string;
            overrides?: {
                [key: string]: {
                    expression?: string;
                    instructions?: string;
                    temperature?: number;
                    max_output_tokens?: number;
                    model?: string;
                };
            };
        };
        ReplayBody: {
            /** Format: uuid */
            correlation_id: string;
            origin: string;
            /** @enum {string} */
            mode: "full" | "recorded" | "shadow";
            published: number;
        };
        ExperimentRequest: {
            name?: string;
            data: components["schemas"]["ExperimentData"];
            expected?: components["schemas"]["ExperimentExpected"];
            output: string;
            /** @enum {string} */
            mode?: "full" | "recorded" | "shadow";
            variants: components["schemas"]["ExperimentVariant"][];
            scorers: components["schemas"]["ExperimentScorer"][];
            max_workers?: number;
            max_cost?: number;
            max_tokens?: number;
            seed?: number;
        };
        ExperimentDefinitionBody: {
            data: {
                [key: string]: unknown;
            };
            expected?: components["schemas"]["ExperimentExpected"];
            output: string;
            /** @enum {string} */
            mode: "full" | "recorded" | "shadow";
            variants: components["schemas"]["ExperimentVariant"][];
            scorers: components["schemas"]["ExperimentScorer"][];
            seed: number;
            max_workers: number;
            max_cost?: number;
            max_tokens?: number;
        };
        HistogramBody: {
            from: number;
            to: number;
            counts: number[];
        };
        ScoreSummaryBody: {
            scorer: string;
            count: number;
            errors: number;
            mean: number | null;
            median: number | null;
            p95: number | null;
            histogram?: components["schemas"]["HistogramBody"];
        };
        VariantSummaryBody: {
            variant: string;
            trials: number;
            failed_trials: number;
            changed_rows: number;
            usage?: components["schemas"]["UsageBody"];
            scores: components["schemas"]["ScoreSummaryBody"][];
        };
        VariantComparisonBody: {
            variant: string;
            scorer: string;
            /** @enum {string} */
            better: "higher" | "lower";
            pairs: number;
            difference: number | null;
            interval: number[] | null;
            wins: number;
            losses: number;
            ties: number;
            /** @enum {string} */
            test?: "mcnemar_exact" | "permutation_exact" | "permutation";
            p_value: number | null;
            /** @enum {string} */
            verdict: "better" | "worse" | "undecided";
        };
        ExperimentSummaryBody: {
            baseline: string;
            variants: components["schemas"]["VariantSummaryBody"][];
            comparisons: components["schemas"]["VariantComparisonBody"][];
        };
        ExperimentBody: {
            /** Format: uuid */
            experiment_id: string;
            name?: string;
            /** @enum {string} */
            state: "running" | "completed" | "failed" | "cancelled";
            rows: number;
            variants: string[];
            total_trials: number;
            ended_trials: number;
            failed_trials: number;
            progress_percentage: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            error?: string;
            usage?: components["schemas"]["UsageBody"];
            definition: components["schemas"]["ExperimentDefinitionBody"];
            waiting_for_configurations?: string[];
            summary?: components["schemas"]["ExperimentSummaryBody"];
        };
        ListedExperimentBody: {
            /** Format: uuid */
            experiment_id: string;
            name?: string;
            /** @enum {string} */
            state: "running" | "completed" | "failed" | "cancelled";
            rows: number;
            variants: string[];
            total_trials: number;
            ended_trials: number;
            failed_trials: number;
            progress_percentage: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at?: string;
            error?: string;
            usage?: components["schemas"]["UsageBody"];
        };
        PageBody: {
            limit: number;
            offset: number;
            has_more: boolean;
        };
        ExperimentListBody: {
            items: components["schemas"]["ListedExperimentBody"][];
            pagination: components["schemas"]["PageBody"];
        };
        TrialScoreBody: {
            scorer: string;
            score: number | null;
            error?: string;
            reason?: string;
            /** Format: uuid */
            artifact_id?: string;
        };
        TrialBody: {
            variant: string;
            /** @enum {string} */
            state: "running" | "judging" | "ended";
            /** Format: uuid */
            correlation_id: string;
            output?: string;
            /** Format: uuid */
            output_id?: string;
            error?: string;
            duration_ms?: number;
            usage?: components["schemas"]["UsageBody"];
            scores: components["schemas"]["TrialScoreBody"][];
        };
        ExperimentRowBody: {
            index: number;
            origin?: string;
            input?: string;
            expected?: string;
            changed: boolean;
            trials: components["schemas"]["TrialBody"][];
        };
        ExperimentRowsBody: {
            items: components["schemas"]["ExperimentRowBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        BatchWindowBody: {
            size: number;
            timeout_ms: number | null;
            key: string | null;
        };
        DebounceBody: {
            wait_ms: number;
            at_most_ms: number;
            key: string | null;
        };
        SubscriptionBody: {
            types: string[];
            /** @enum {string} */
            mode: "all" | "any";
            priority: number | null;
            window?: components["schemas"]["BatchWindowBody"];
            debounce?: components["schemas"]["DebounceBody"];
        };
        BreakerBody: {
            failures: number;
            of: number;
            open_ms: number;
            key: string | null;
            open: number;
        };
        VariantBody: {
            name: string;
            share: number;
            /** Format: date-time */
            rolled_back_at: string | null;
        };
        RollbackBody: {
            failures: number;
            of: number;
        };
        VariantsBody: {
            items: components["schemas"]["VariantBody"][];
            rollback: components["schemas"]["RollbackBody"] | null;
        };
        AgentEngineBody: {
            /** @enum {string} */
            kind: "expression" | "function" | "http" | "llm" | "external" | "provider";
            model: string | null;
        };
        AgentRetryBody: {
            attempts: number;
            delay_ms: number;
            max_delay_ms: number;
        };
        AgentBudgetBody: {
            tokens: number | null;
            cost: number | null;
        };
        AgentOptionsBody: {
            timeout_ms: number;
            concurrency: number;
            retry: components["schemas"]["AgentRetryBody"];
            budget: components["schemas"]["AgentBudgetBody"];
            labels: string[];
            tenant_id: string | null;
        };
        AgentBody: {
            name: string;
            description: string;
            subscriptions: components["schemas"]["SubscriptionBody"][];
            outputs: string[];
            paused: boolean;
            waiting: number;
            breaker?: components["schemas"]["BreakerBody"];
            variants?: components["schemas"]["VariantsBody"];
            definition: string | null;
            configurations?: string[];
            engine: components["schemas"]["AgentEngineBody"];
            options: components["schemas"]["AgentOptionsBody"];
        };
        AgentsBody: {
            agents: components["schemas"]["AgentBody"][];
        };
        AgentInput: {
            type: string;
            payload: components["schemas"]["Payload"];
        };
        RunAgentRequest: {
            inputs: components["schemas"]["AgentInput"][];
        };
        RunAgentBody: {
            artifacts: components["schemas"]["ArtifactBody"][];
        };
        AgentPauseBody: {
            name: string;
            paused: boolean;
            /** Format: date-time */
            paused_at: string | null;
        };
        HourBody: {
            executions: number;
            failures: number;
            artifacts_consumed: number;
            artifacts_produced: number;
        };
        VariantHistoryBody: {
            name: string;
            executions: number;
            failures: number;
            duration_ms: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            usage?: components["schemas"]["UsageBody"];
        };
        HistoryContent: {
            total_executions: number;
            total_artifacts_consumed: number;
            total_artifacts_produced: number;
            execution_timeline: {
                [key: string]: components["schemas"]["HourBody"];
            };
            usage?: components["schemas"]["UsageBody"];
            by_variant?: components["schemas"]["VariantHistoryBody"][];
        };
        HistoryBody: {
            agent_id: string;
            summary: components["schemas"]["HistoryContent"];
        };
        AgentNameBody: {
            name: string;
            description: string;
        };
        AgentNamesBody: {
            agents: components["schemas"]["AgentNameBody"][];
        };
        ActivityStepBody: {
            starts: number;
            ends: number;
            failures: number;
            retries: number;
            duration_ms: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            queue_ms: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            /** Format: date-time */
            start: string;
        };
        ActivitySeriesBody: {
            starts: number;
            ends: number;
            failures: number;
            retries: number;
            duration_ms: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            queue_ms: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            usage?: components["schemas"]["UsageBody"];
            steps: components["schemas"]["ActivityStepBody"][];
        };
        AgentActivityBody: {
            starts: number;
            ends: number;
            failures: number;
            retries: number;
            duration_ms: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            queue_ms: {
                p50: number;
                p95: number;
                p99: number;
            } | null;
            usage?: components["schemas"]["UsageBody"];
            steps: components["schemas"]["ActivityStepBody"][];
            agent: string;
        };
        ActivityBody: {
            /** @enum {string} */
            window: "1h" | "24h" | "7d";
            /** @enum {string} */
            step: "1m" | "5m" | "15m" | "1h" | "6h" | "1d";
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            total: components["schemas"]["ActivitySeriesBody"];
            agents: components["schemas"]["AgentActivityBody"][];
        };
        ListedExecutionBody: {
            /** Format: uuid */
            id: string;
            agent: string;
            correlation_id: string;
            /** @enum {string} */
            state: "pending" | "running" | "completed" | "failed" | "cancelled";
            without_agent?: boolean;
            direct: boolean;
            /** @enum {string} */
            replay?: "run" | "recorded" | "unanswered";
            attempt: number;
            round: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            error_type: string | null;
            error_message: string | null;
            cause?: string;
            stack?: string;
            /** Format: uuid */
            cancelled_by?: string;
            /** Format: uuid */
            cached_from?: string;
            /** Format: uuid */
            skipped_for?: string;
            /** Format: uuid */
            superseded_by?: string;
            failure_group: string | null;
            definition: string | null;
            variant?: string;
            assignee: string | null;
            claimed_by: string | null;
            /** Format: date-time */
            lease_until: string | null;
            /** Format: date-time */
            due_at: string | null;
            /** Format: date-time */
            escalated_at: string | null;
        };
        ExecutionListBody: {
            items: components["schemas"]["ListedExecutionBody"][];
            pagination: components["schemas"]["PageBody"];
        };
        FailureGroupBody: {
            group: string;
            agent: string;
            error_type: string;
            message: string;
            count: number;
            /** Format: date-time */
            first_at: string;
            /** Format: date-time */
            last_at: string;
            /** Format: uuid */
            example: string;
        };
        FailureListBody: {
            items: components["schemas"]["FailureGroupBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        ExecutionAttemptBody: {
            round: number;
            attempt: number;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            error_type: string | null;
            error_message: string | null;
            cause?: string;
            stack?: string;
        };
        ModelUseBody: {
            input_tokens: number;
            output_tokens: number;
            cost?: number;
            attempt: number;
            model: string;
            latency_ms: number;
            /** Format: date-time */
            at: string;
        };
        ToolCallBody: {
            attempt: number;
            server: string;
            tool: string;
            /** @enum {string} */
            outcome: "ok" | "error" | "failed";
            /** Format: date-time */
            at: string;
            duration_ms?: number;
            result_bytes: number;
        };
        ExecutionBody: {
            /** Format: uuid */
            id: string;
            agent: string;
            correlation_id: string;
            /** @enum {string} */
            state: "pending" | "running" | "completed" | "failed" | "cancelled";
            without_agent?: boolean;
            direct: boolean;
            /** @enum {string} */
            replay?: "run" | "recorded" | "unanswered";
            attempt: number;
            round: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at: string | null;
            /** Format: date-time */
            ended_at: string | null;
            /** Format: date-time */
            next_attempt_at: string | null;
            error_type: string | null;
            error_message: string | null;
            cause?: string;
            stack?: string;
            /** Format: uuid */
            cancelled_by?: string;
            /** Format: uuid */
            cached_from?: string;
            /** Format: uuid */
            skipped_for?: string;
            /** Format: uuid */
            superseded_by?: string;
            failure_group: string | null;
            definition: string | null;
            variant?: string;
            assignee: string | null;
            claimed_by: string | null;
            /** Format: date-time */
            lease_until: string | null;
            /** Format: date-time */
            due_at: string | null;
            /** Format: date-time */
            escalated_at: string | null;
            lost_leases: number;
            inputs: components["schemas"]["ArtifactBody"][];
            outputs: components["schemas"]["ArtifactBody"][];
            errors: components["schemas"]["ArtifactBody"][];
            attempts: components["schemas"]["ExecutionAttemptBody"][];
            form?: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            model_uses?: components["schemas"]["ModelUseBody"][];
            tool_calls?: components["schemas"]["ToolCallBody"][];
        };
        ClaimRequestBody: {
            claimed_by?: string;
            agents: string[];
            max?: number;
            wait?: number;
            assignee?: string;
        };
        HeldExecutionBody: {
            /** Format: date-time */
            lease_until: string;
            /** Format: uuid */
            execution_id: string;
            correlation_id: string;
            agent: string;
            attempt: number;
            inputs: components["schemas"]["ArtifactBody"][];
            lease_token: string;
            assignee: string | null;
            /** Format: date-time */
            due_at: string | null;
            form: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            traceparent: string | null;
        };
        ClaimBody: {
            executions: components["schemas"]["HeldExecutionBody"][];
        };
        ClaimOneRequest: {
            claimed_by?: string;
        };
        LeaseRequest: {
            lease_token: string;
        };
        LeaseBody: {
            /** Format: date-time */
            lease_until: string;
        };
        OutputBody: {
            type: string;
            payload: components["schemas"]["Payload"];
            tags?: string[];
            visibility?: components["schemas"]["Visibility"];
        };
        CompleteWithOutputs: {
            lease_token: string;
            outputs: components["schemas"]["OutputBody"][];
        };
        CompleteWithOutput: {
            lease_token: string;
            output: {
                [key: string]: unknown;
            } | null;
        };
        CompleteWithPayloads: {
            lease_token: string;
            output: {
                [key: string]: unknown;
            }[];
        };
        FailRequest: {
            lease_token: string;
            error_message: string;
            error_type?: string;
            final?: boolean;
        };
        DefinitionBody: {
            digest: string;
            agent: string;
            /** Format: date-time */
            first_used_at: string;
            options: {
                [key: string]: unknown;
            };
            schemas: {
                [key: string]: {
                    [key: string]: unknown;
                };
            };
            files: {
                [key: string]: string;
            };
            packages: {
                [key: string]: string;
            };
        };
        OperationFilterBody: {
            group?: string;
            agent?: string;
            error_type?: string;
            correlation_id?: string;
            /** Format: date-time */
            from?: string;
            /** Format: date-time */
            to?: string;
        };
        OperationBody: {
            /** Format: uuid */
            operation_id: string;
            /** @enum {string} */
            kind: "retry" | "fail";
            filter: components["schemas"]["OperationFilterBody"];
            /** @enum {string} */
            state: "running" | "completed" | "cancelled";
            matched: number;
            done: number;
            failed: number;
            last_error: string | null;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            ended_at: string | null;
        };
        MatchedBody: {
            matched: number;
        };
        RetryAllRequest: {
            group?: string;
            agent?: string;
            error_type?: string;
            correlation_id?: string;
            /** Format: date-time */
            from?: string;
            /** Format: date-time */
            to?: string;
            dry_run?: boolean;
        } | unknown | unknown | unknown | unknown | unknown | unknown;
        FailAllRequest: {
            agent?: string;
            correlation_id?: string;
            /** Format: date-time */
            from?: string;
            /** Format: date-time */
            to?: string;
            dry_run?: boolean;
        } | unknown | unknown | unknown | unknown;
        OperationListBody: {
            items: components["schemas"]["OperationBody"][];
            pagination: components["schemas"]["PageBody"];
        };
        LimitValuesBody: {
            concurrency: number | null;
            rate: string | null;
            burst: number | null;
        };
        LimitedAgentBody: {
            agent: string;
            key: string | null;
        };
        WaiterBody: {
            /** Format: uuid */
            execution_id: string;
            agent: string;
            correlation_id: string;
            /** Format: date-time */
            queued_at: string;
        };
        LimitBody: {
            concurrency: number | null;
            rate: string | null;
            burst: number | null;
            name: string;
            units: string | null;
            hold: boolean;
            /** Format: date-time */
            set_at: string | null;
            file: components["schemas"]["LimitValuesBody"] | null;
            agents: components["schemas"]["LimitedAgentBody"][];
            running: number;
            units_used: number | null;
            waiting: number;
            longest: components["schemas"]["WaiterBody"] | null;
        };
        LimitListBody: {
            items: components["schemas"]["LimitBody"][];
        };
        LimitKeyBody: {
            key: string | null;
            running: number;
            units_used: number | null;
            waiting: number;
            longest: components["schemas"]["WaiterBody"] | null;
            /** Format: date-time */
            room_at: string | null;
        };
        LimitKeysBody: {
            items: components["schemas"]["LimitKeyBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        LimitRequest: {
            concurrency?: number | null;
            rate?: string | null;
            burst?: number | null;
        };
        TickTimeBody: {
            /** Format: date-time */
            scheduled_for: string;
            /** Format: date-time */
            local: string;
        };
        TickBody: {
            /** Format: date-time */
            scheduled_for: string;
            /** Format: date-time */
            local: string;
            /** @enum {string} */
            state: "published" | "queued" | "skipped" | "failed";
            /** @enum {string} */
            cause: "time" | "trigger" | "backfill";
            reason: string | null;
            version: number;
            /** Format: uuid */
            artifact_id: string | null;
            correlation_id: string | null;
            /** Format: date-time */
            decided_at: string;
        };
        ScheduleBody: {
            name: string;
            /** @enum {string} */
            source: "file" | "api";
            version: number;
            options: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            paused_at: string | null;
            next?: components["schemas"]["TickTimeBody"];
            last?: components["schemas"]["TickBody"];
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            updated_at: string;
        };
        ScheduleListBody: {
            items: components["schemas"]["ScheduleBody"][];
            pagination: components["schemas"]["PageBody"];
        };
        NewScheduleRequest: {
            options: {
                [key: string]: unknown;
            };
            name: string;
        };
        ScheduleOptionsRequest: {
            options: {
                [key: string]: unknown;
            };
        };
        BackfillRequest: {
            /** Format: date-time */
            from: string;
            /** Format: date-time */
            to: string;
            dry_run?: boolean;
        };
        BackfilledBody: {
            /** Format: date-time */
            scheduled_for: string;
            /** Format: date-time */
            local: string;
            version: number;
            /** @enum {string} */
            state: "published" | "failed";
            reason: string | null;
        };
        BackfillBody: {
            ticks: components["schemas"]["BackfilledBody"][];
            dry_run: boolean;
        };
        PreviewBody: {
            ticks: components["schemas"]["TickTimeBody"][];
        };
        TicksBody: {
            ticks: components["schemas"]["TickBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        WaitingExecutionBody: {
            /** @enum {string} */
            kind: "running" | "held" | "retry" | "ready" | "unclaimed" | "concurrency" | "slots" | "paused" | "no_process" | "no_configuration" | "budget" | "limit";
            /** Format: uuid */
            execution_id: string;
            agent: string;
            attempt: number;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string | null;
            limit: string | null;
            assignee: string | null;
            claimed_by: string | null;
            /** Format: date-time */
            due_at: string | null;
        };
        WaitingTimerBody: {
            /** @enum {string} */
            kind: "release" | "deadline";
            /** Format: uuid */
            artifact_id: string | null;
            artifact_type: string | null;
            /** Format: date-time */
            since: string | null;
            /** Format: date-time */
            until: string;
        };
        CorrelationWaitingBody: {
            correlation_id: string;
            /** @enum {string} */
            state: "active" | "completed" | "failed" | "cancelled";
            counts?: {
                release: number;
                deadline: number;
                join: number;
                window: number;
                running: number;
                held: number;
                retry: number;
                ready: number;
                unclaimed: number;
                concurrency: number;
                slots: number;
                paused: number;
                no_process: number;
                no_configuration: number;
                budget: number;
                limit: number;
            };
            items: components["schemas"]["WaitBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        OpenGroupBody: {
            /** @enum {string} */
            kind: "join" | "window";
            /** Format: uuid */
            group_id: string;
            agent: string;
            subscription: number | null;
            types: string[];
            join_key: string | null;
            correlation_id: string | null;
            /** @enum {string} */
            state: "waiting" | "complete";
            received: {
                [key: string]: number;
            };
            waiting_for: string[];
            size: number;
            size_needed: number | null;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string | null;
            without_process: boolean;
        };
        WaitingGroupsBody: {
            items: components["schemas"]["OpenGroupBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        GroupMemberBody: {
            /** Format: uuid */
            artifact_id: string;
            artifact_type: string;
            correlation_id: string;
            /** Format: date-time */
            arrived_at: string;
        };
        WaitingGroupBody: {
            /** @enum {string} */
            kind: "join" | "window";
            /** Format: uuid */
            group_id: string;
            agent: string;
            subscription: number | null;
            types: string[];
            join_key: string | null;
            correlation_id: string | null;
            /** @enum {string} */
            state: "waiting" | "complete";
            received: {
                [key: string]: number;
            };
            waiting_for: string[];
            size: number;
            size_needed: number | null;
            /** Format: date-time */
            since: string;
            /** Format: date-time */
            until: string | null;
            without_process: boolean;
            items: components["schemas"]["GroupMemberBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        RunRequest: {
            agent_name: string;
            inputs?: {
                [key: string]: unknown;
            };
            async_run?: boolean;
            deadline?: string;
        };
        RunBody: {
            run_id: string;
            /** @enum {string} */
            status: "starting" | "running" | "completed" | "failed" | "cancelled";
            result?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            started_at?: string;
            /** Format: date-time */
            completed_at?: string;
            error?: string;
            usage?: components["schemas"]["UsageBody"];
        };
        ListedRunBody: {
            run_id: string;
            agent_name: string;
            /** @enum {string} */
            status: "starting" | "running" | "completed" | "failed" | "cancelled";
            batch_id?: string;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            started_at?: string;
            /** Format: date-time */
            completed_at?: string;
            error?: string;
        };
        RunListBody: {
            items: components["schemas"]["ListedRunBody"][];
            pagination: components["schemas"]["PageBody"];
        };
        BatchItemBody: {
            run_id: string;
            /** @enum {string} */
            status: "starting" | "running" | "completed" | "failed" | "cancelled";
            result?: {
                [key: string]: unknown;
            };
            /** Format: date-time */
            started_at?: string;
            /** Format: date-time */
            completed_at?: string;
            error?: string;
            usage?: components["schemas"]["UsageBody"];
            index: number;
            inputs?: {
                [key: string]: unknown;
            };
        };
        ItemsBatchRequest: {
            agent_name: string;
            static_inputs?: {
                [key: string]: unknown;
            };
            input_mapping?: {
                [key: string]: string;
            };
            parallel?: boolean;
            max_workers?: number;
            delimiter?: string;
            row_key?: string;
            batch_inputs: {
                [key: string]: unknown;
            }[];
        };
        CsvBatchRequest: {
            agent_name: string;
            static_inputs?: {
                [key: string]: unknown;
            };
            input_mapping?: {
                [key: string]: string;
            };
            parallel?: boolean;
            max_workers?: number;
            delimiter?: string;
            row_key?: string;
            batch_inputs: string;
        };
        UploadedBatchRequest: {
            agent_name: string;
            static_inputs?: {
                [key: string]: unknown;
            };
            input_mapping?: {
                [key: string]: string;
            };
            parallel?: boolean;
            max_workers?: number;
            delimiter?: string;
            row_key?: string;
        };
        BatchBody: {
            batch_id: string;
            /** @enum {string} */
            status: "starting" | "running" | "completed" | "failed" | "cancelled";
            total_items: number;
            completed_items: number;
            failed_items: number;
            progress_percentage: number;
            /** Format: date-time */
            started_at?: string;
            /** Format: date-time */
            completed_at?: string;
            error?: string;
            waiting_for_agents?: string[];
            usage?: components["schemas"]["UsageBody"];
            results: components["schemas"]["BatchItemBody"][];
        };
        BatchFailureBody: {
            message: string;
            items: number;
            first_index: number;
            first_run_id: string;
        };
        BatchFailuresBody: {
            groups: components["schemas"]["BatchFailureBody"][];
            other_items: number;
        };
        ListedBatchBody: {
            batch_id: string;
            /** @enum {string} */
            status: "starting" | "running" | "completed" | "failed" | "cancelled";
            total_items: number;
            completed_items: number;
            failed_items: number;
            progress_percentage: number;
            /** Format: date-time */
            started_at?: string;
            /** Format: date-time */
            completed_at?: string;
            error?: string;
            waiting_for_agents?: string[];
            usage?: components["schemas"]["UsageBody"];
            agent_name: string;
            /** Format: date-time */
            created_at: string;
        };
        BatchListBody: {
            items: components["schemas"]["ListedBatchBody"][];
            pagination: components["schemas"]["PageBody"];
        };
        ChangelogEntryBody: {
            seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "artifact_published";
            /** Format: uuid */
            artifact_id: string;
            artifact_type: string;
            produced_by: string;
            correlation_id: string;
            visibility: components["schemas"]["Visibility"];
            /** Format: date-time */
            timestamp: string;
            replay?: boolean;
        };
        ChangelogGapBody: {
            seq: number;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "gap";
            to_seq: number;
        };
        ChangelogPaginationBody: {
            limit: number;
            after: number;
            next: number;
            has_more: boolean;
        };
        ChangelogEventsBody: {
            items: components["schemas"]["ChangelogItemBody"][];
            pagination: components["schemas"]["ChangelogPaginationBody"];
        };
        DeliveryBody: {
            delivery_id: string;
            /** @enum {string} */
            state: "waiting" | "pending" | "running" | "delivered" | "dead";
            target_id: string;
            target_origin: string;
            correlation_id: string;
            /** Format: uuid */
            artifact_id: string;
            sequence: number;
            attempt: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            next_attempt_at?: string;
            /** Format: date-time */
            ended_at?: string;
            last_status?: number;
            last_error?: string;
        };
        DeliveryListBody: {
            items: components["schemas"]["DeliveryBody"][];
            pagination: components["schemas"]["PageBody"];
        };
        AttemptBody: {
            attempt: number;
            /** Format: date-time */
            started_at: string;
            duration_ms: number;
            status?: number;
            error?: string;
        };
        DeliveryWithAttemptsBody: {
            delivery_id: string;
            /** @enum {string} */
            state: "waiting" | "pending" | "running" | "delivered" | "dead";
            target_id: string;
            target_origin: string;
            correlation_id: string;
            /** Format: uuid */
            artifact_id: string;
            sequence: number;
            attempt: number;
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            next_attempt_at?: string;
            /** Format: date-time */
            ended_at?: string;
            last_status?: number;
            last_error?: string;
            attempts: components["schemas"]["AttemptBody"][];
        };
        TargetBody: {
            target_id: string;
            target_origin: string;
            /** @enum {string} */
            set_by: "client" | "operator";
            /** Format: date-time */
            created_at: string;
            /** Format: date-time */
            failing_since?: string;
            open: number;
            dead: number;
        };
        TargetListBody: {
            items: components["schemas"]["TargetBody"][];
            pagination: components["schemas"]["NextPageBody"];
        };
        JsonRpcMessage: {
            /** @enum {string} */
            jsonrpc: "2.0";
            id?: components["schemas"]["JsonRpcId"];
            method: string;
            params?: {
                _meta?: {
                    progressToken?: components["schemas"]["JsonRpcId"];
                    "io.modelcontextprotocol/related-task"?: {
                        taskId: string;
                    };
                } & {
                    [key: string]: unknown;
                };
            } & {
                [key: string]: unknown;
            };
        };
        JsonRpcAnswer: {
            /** @enum {string} */
            jsonrpc: "2.0";
            id: components["schemas"]["JsonRpcId"];
            result?: {
                [key: string]: unknown;
            };
            error?: {
                [key: string]: unknown;
            };
        };
        ProcessBody: {
            /** Format: uuid */
            id: string;
            roles: ("server" | "worker")[];
            version: string;
            configuration: string;
            replay_configurations: {
                [key: string]: string;
            };
            agents: string[];
            running: {
                [key: string]: number;
            };
            /** Format: date-time */
            started_at: string;
            /** Format: date-time */
            last_heartbeat_at: string;
        };
        ProcessesBody: {
            processes: components["schemas"]["ProcessBody"][];
        };
        HealthBody: {
            /** @enum {string} */
            status: "ok" | "error";
            info: {
                [key: string]: {
                    /** @enum {string} */
                    status: "up" | "down";
                    message?: string;
                    responseTime?: number;
                };
            };
            error: {
                [key: string]: {
                    /** @enum {string} */
                    status: "up" | "down";
                    message?: string;
                    responseTime?: number;
                };
            };
            details: {
                [key: string]: {
                    /** @enum {string} */
                    status: "up" | "down";
                    message?: string;
                    responseTime?: number;
                };
            };
        };
        ErrorBody: {
            detail: string;
        };
        AfterVisibility: {
            /** @enum {string} */
            kind: "After";
            ttl: string;
            then?: components["schemas"]["LastingVisibility"];
        };
        BatchRequest: components["schemas"]["ItemsBatchRequest"] | components["schemas"]["CsvBatchRequest"];
        ChangelogItemBody: components["schemas"]["ChangelogEntryBody"] | components["schemas"]["ChangelogGapBody"];
        CompleteRequest: components["schemas"]["CompleteWithOutputs"] | components["schemas"]["CompleteWithOutput"] | components["schemas"]["CompleteWithPayloads"];
        ExperimentData: {
            csv?: string;
            agent?: string;
            delimiter?: string;
            batch?: string;
            artifacts?: {
                type: string;
                tags?: string[];
                from?: string;
                to?: string;
            };
            correlations?: string[];
            limit?: number;
        } & (unknown | unknown | unknown | unknown);
        ExperimentExpected: {
            column?: string;
            path?: string;
            /** @enum {boolean} */
            recorded?: true;
        };
        ExperimentScorer: {
            name: string;
            /** @enum {string} */
            kind: "latency" | "cost" | "equals" | "contains" | "cel" | "judge";
            path?: string;
            expression?: string;
            agent?: string;
        };
        ExperimentVariant: {
            name: string;
            agent?: string;
            configuration?: string;
            overrides?: {
                [key: string]: {
                    expression?: string;
                    instructions?: string;
                    temperature?: number;
                    max_output_tokens?: number;
                    model?: string;
                };
            };
        };
        JsonRpcId: components["schemas"]["JsonRpcTextId"] | components["schemas"]["JsonRpcNumberId"];
        JsonRpcNumberId: number;
        JsonRpcTextId: string;
        LabelledVisibility: {
            /** @enum {string} */
            kind: "Labelled";
            required_labels: string[];
        };
        LastingVisibility: components["schemas"]["PublicVisibility"] | components["schemas"]["PrivateVisibility"] | components["schemas"]["LabelledVisibility"] | components["schemas"]["TenantVisibility"];
        PrivateVisibility: {
            /** @enum {string} */
            kind: "Private";
            agents: string[];
        };
        PublicVisibility: {
            /** @enum {string} */
            kind: "Public";
        };
        StartedBody: components["schemas"]["OperationBody"] | components["schemas"]["MatchedBody"];
        TenantVisibility: {
            /** @enum {string} */
            kind: "Tenant";
            tenant_id: string | null;
        };
        Visibility: components["schemas"]["PublicVisibility"] | components["schemas"]["PrivateVisibility"] | components["schemas"]["LabelledVisibility"] | components["schemas"]["TenantVisibility"] | components["schemas"]["AfterVisibility"];
        WaitBody: components["schemas"]["WaitingTimerBody"] | components["schemas"]["OpenGroupBody"] | components["schemas"]["WaitingExecutionBody"];
        Payload: {
            [key: string]: unknown;
        };
        WorkflowErrorPayload: {
            failed_agent: string;
            error_type: string;
            error_message: string;
            /** Format: date-time */
            timestamp: string;
            /** Format: uuid */
            execution_id: string | null;
            attempts: number;
            input_artifact_ids: string[];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    artifactsList: {
        parameters: {
            query?: {
                type?: string[];
                produced_by?: string[];
                correlation_id?: string;
                tag?: string[];
                from?: string;
                to?: string;
                visibility?: ("Public" | "Private" | "Labelled" | "Tenant" | "After")[];
                replay?: boolean;
                limit?: number;
                offset?: number;
                after?: string;
                order?: "asc" | "desc";
                embed_meta?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactListBody"];
                };
            };
        };
    };
    artifactsPublish: {
        parameters: {
            query?: never;
            header?: {
                "X-Correlation-ID"?: string;
                "X-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PublishRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AcceptedBody"];
                };
            };
        };
    };
    artifactsPublishAndWait: {
        parameters: {
            query?: never;
            header?: {
                "X-Correlation-ID"?: string;
                "X-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SyncPublishRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SyncPublishBody"];
                };
            };
        };
    };
    artifactsSummarize: {
        parameters: {
            query?: {
                type?: string[];
                produced_by?: string[];
                correlation_id?: string;
                tag?: string[];
                from?: string;
                to?: string;
                visibility?: ("Public" | "Private" | "Labelled" | "Tenant" | "After")[];
                replay?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SummaryBody"];
                };
            };
        };
    };
    artifactsGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactBody"];
                };
            };
        };
    };
    artifactsExplain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplanationBody"];
                };
            };
        };
    };
    artifactTypesList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactTypesBody"];
                };
            };
        };
    };
    artifactTypesGet: {
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
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArtifactTypeBody"];
                };
            };
        };
    };
    correlationsList: {
        parameters: {
            query?: {
                state?: "active" | "completed" | "failed" | "cancelled";
                agent?: string;
                type?: string;
                tag?: string;
                from?: string;
                to?: string;
                id_prefix?: string;
                replay?: boolean;
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrelationListBody"];
                };
            };
        };
    };
    correlationsStatus: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                correlation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrelationStatusBody"];
                };
            };
        };
    };
    correlationsTrace: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
            };
            header?: never;
            path: {
                correlation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TraceBody"];
                };
            };
        };
    };
    correlationsCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                correlation_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrelationStatusBody"];
                };
            };
        };
    };
    compareCompare: {
        parameters: {
            query: {
                left: string;
                right: string;
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ComparisonBody"];
                };
            };
        };
    };
    replaysOfCorrelation: {
        parameters: {
            query?: never;
            header?: {
                "X-Idempotency-Key"?: string;
            };
            path: {
                correlation_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayBody"];
                };
            };
        };
    };
    replaysOfArtifact: {
        parameters: {
            query?: never;
            header?: {
                "X-Idempotency-Key"?: string;
            };
            path: {
                artifact_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReplayRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayBody"];
                };
            };
        };
    };
    experimentsList: {
        parameters: {
            query?: {
                state?: "running" | "completed" | "failed" | "cancelled";
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentListBody"];
                };
            };
        };
    };
    experimentsCreate: {
        parameters: {
            query?: never;
            header?: {
                "X-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExperimentRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentBody"];
                };
            };
        };
    };
    experimentsGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentBody"];
                };
            };
        };
    };
    experimentsRows: {
        parameters: {
            query?: {
                changed?: boolean;
                limit?: number;
                after?: string;
            };
            header?: never;
            path: {
                experiment_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentRowsBody"];
                };
            };
        };
    };
    experimentsCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                experiment_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExperimentBody"];
                };
            };
        };
    };
    agentsList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentsBody"];
                };
            };
        };
    };
    agentsRun: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunAgentRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunAgentBody"];
                };
            };
        };
    };
    agentsPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPauseBody"];
                };
            };
        };
    };
    agentsResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPauseBody"];
                };
            };
        };
    };
    agentsSummarizeHistory: {
        parameters: {
            query?: {
                type?: string[];
                produced_by?: string[];
                correlation_id?: string;
                tag?: string[];
                from?: string;
                to?: string;
                visibility?: ("Public" | "Private" | "Labelled" | "Tenant" | "After")[];
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryBody"];
                };
            };
        };
    };
    agentNamesList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentNamesBody"];
                };
            };
        };
    };
    activityRead: {
        parameters: {
            query?: {
                window?: "1h" | "24h" | "7d";
                step?: "1m" | "5m" | "15m" | "1h" | "6h" | "1d";
                agent?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActivityBody"];
                };
            };
        };
    };
    executionsList: {
        parameters: {
            query?: {
                state?: "pending" | "running" | "completed" | "failed" | "cancelled";
                agent?: string;
                correlation_id?: string;
                assignee?: string;
                failure_group?: string;
                without_agent?: boolean;
                waits_for?: "slot" | "claim" | "retry" | "limit" | "resume";
                external?: boolean;
                replay?: boolean;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionListBody"];
                };
            };
        };
    };
    executionsListFailures: {
        parameters: {
            query?: {
                agent?: string;
                error_type?: string;
                from?: string;
                to?: string;
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FailureListBody"];
                };
            };
        };
    };
    executionsGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionBody"];
                };
            };
        };
    };
    executionsRetry: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionBody"];
                };
            };
        };
    };
    externalWorkClaim: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimRequestBody"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClaimBody"];
                };
            };
        };
    };
    externalWorkClaimOne: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ClaimOneRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeldExecutionBody"];
                };
            };
        };
    };
    externalWorkHeartbeat: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LeaseBody"];
                };
            };
        };
    };
    externalWorkRelease: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LeaseRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionBody"];
                };
            };
        };
    };
    externalWorkComplete: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompleteRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionBody"];
                };
            };
        };
    };
    externalWorkFail: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                execution_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionBody"];
                };
            };
        };
    };
    definitionsGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                digest: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DefinitionBody"];
                };
            };
        };
    };
    operationsRetry: {
        parameters: {
            query?: never;
            header?: {
                "X-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetryAllRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedBody"];
                };
            };
        };
    };
    operationsFail: {
        parameters: {
            query?: never;
            header?: {
                "X-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FailAllRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StartedBody"];
                };
            };
        };
    };
    operationsList: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationListBody"];
                };
            };
        };
    };
    operationsGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                operation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationBody"];
                };
            };
        };
    };
    operationsCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                operation_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationBody"];
                };
            };
        };
    };
    limitsList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitListBody"];
                };
            };
        };
    };
    limitsGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                limit_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitBody"];
                };
            };
        };
    };
    limitsSet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                limit_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LimitRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitBody"];
                };
            };
        };
    };
    limitsReset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                limit_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitBody"];
                };
            };
        };
    };
    limitsKeys: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
            };
            header?: never;
            path: {
                limit_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitKeysBody"];
                };
            };
        };
    };
    schedulesList: {
        parameters: {
            query?: {
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleListBody"];
                };
            };
        };
    };
    schedulesCreate: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewScheduleRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleBody"];
                };
            };
        };
    };
    schedulesGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleBody"];
                };
            };
        };
    };
    schedulesReplace: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleOptionsRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleBody"];
                };
            };
        };
    };
    schedulesRemove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleBody"];
                };
            };
        };
    };
    schedulesPause: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleBody"];
                };
            };
        };
    };
    schedulesResume: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleBody"];
                };
            };
        };
    };
    schedulesTrigger: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TickBody"];
                };
            };
        };
    };
    schedulesBackfill: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackfillRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackfillBody"];
                };
            };
        };
    };
    schedulesPreview: {
        parameters: {
            query?: {
                count?: number;
            };
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewBody"];
                };
            };
        };
    };
    schedulesTicks: {
        parameters: {
            query?: {
                state?: "published" | "queued" | "skipped" | "failed";
                limit?: number;
                after?: string;
            };
            header?: never;
            path: {
                schedule_name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TicksBody"];
                };
            };
        };
    };
    correlationWaitingOfCorrelation: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
            };
            header?: never;
            path: {
                correlation_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrelationWaitingBody"];
                };
            };
        };
    };
    waitingGroups: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
                agent?: string;
                correlation_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingGroupsBody"];
                };
            };
        };
    };
    waitingGroup: {
        parameters: {
            query?: {
                limit?: number;
                after?: string;
            };
            header?: never;
            path: {
                group_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitingGroupBody"];
                };
            };
        };
    };
    runsStart: {
        parameters: {
            query?: never;
            header?: {
                "X-Correlation-ID"?: string;
                "X-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RunRequest"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunBody"];
                };
            };
        };
    };
    runsGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunBody"];
                };
            };
        };
    };
    runsCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunBody"];
                };
            };
        };
    };
    runsList: {
        parameters: {
            query?: {
                agent?: string;
                from?: string;
                to?: string;
                limit?: number;
                offset?: number;
                status?: "starting" | "running" | "completed" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunListBody"];
                };
            };
        };
    };
    batchesCreate: {
        parameters: {
            query?: never;
            header?: {
                "X-Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BatchRequest"];
                "multipart/form-data": {
                    /** Format: binary */
                    file: string;
                    request: components["schemas"]["UploadedBatchRequest"];
                };
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchBody"];
                };
            };
        };
    };
    batchesGet: {
        parameters: {
            query?: {
                results_limit?: number;
                results_offset?: number;
                results_status?: "completed" | "failed";
                results_inputs?: boolean;
            };
            header?: never;
            path: {
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchBody"];
                };
            };
        };
    };
    batchesResults: {
        parameters: {
            query?: {
                format?: "ndjson" | "csv";
                results_inputs?: boolean;
            };
            header?: never;
            path: {
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": components["schemas"]["BatchItemBody"];
                    "text/csv": string;
                };
            };
        };
    };
    batchesFailures: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchFailuresBody"];
                };
            };
        };
    };
    batchesCancel: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchBody"];
                };
            };
        };
    };
    batchesRetryFailed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                batch_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchBody"];
                };
            };
        };
    };
    batchesList: {
        parameters: {
            query?: {
                agent?: string;
                from?: string;
                to?: string;
                limit?: number;
                offset?: number;
                status?: "starting" | "running" | "completed" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BatchListBody"];
                };
            };
        };
    };
    changelogList: {
        parameters: {
            query?: {
                correlation_id?: string[];
                artifact_type?: string[];
                produced_by?: string[];
                replay?: boolean;
                after?: number;
                order?: "asc" | "desc";
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangelogEventsBody"];
                };
            };
        };
    };
    changelogStream: {
        parameters: {
            query?: {
                correlation_id?: string[];
                artifact_type?: string[];
                produced_by?: string[];
                replay?: boolean;
                after?: number;
                live?: boolean;
            };
            header?: {
                "Last-Event-ID"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": string;
                };
            };
        };
    };
    webhooksList: {
        parameters: {
            query?: {
                state?: "waiting" | "pending" | "running" | "delivered" | "dead";
                target_id?: string;
                correlation_id?: string;
                artifact_id?: string;
                limit?: number;
                offset?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryListBody"];
                };
            };
        };
    };
    webhooksGet: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryWithAttemptsBody"];
                };
            };
        };
    };
    webhooksRedeliver: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": Record<string, never>;
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryWithAttemptsBody"];
                };
            };
        };
    };
    webhookTargetsList: {
        parameters: {
            query?: {
                failing?: boolean;
                limit?: number;
                after?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TargetListBody"];
                };
            };
        };
    };
    mcpReceive: {
        parameters: {
            query?: never;
            header?: {
                "Mcp-Protocol-Version"?: "2025-11-25" | "2025-06-18" | "2025-03-26" | "2024-11-05" | "2024-10-07";
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JsonRpcMessage"];
            };
        };
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JsonRpcAnswer"];
                };
            };
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    processesList: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProcessesBody"];
                };
            };
        };
    };
    healthHealth: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthBody"];
                };
            };
        };
    };
    healthReady: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthBody"];
                };
            };
        };
    };
    healthLive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthBody"];
                };
            };
        };
    };
    docsOpenApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": Record<string, never>;
                };
            };
        };
    };
    docsSwaggerUi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    docsRedoc: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/html": string;
                };
            };
        };
    };
    docsFile: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                file: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/css": string;
                };
            };
        };
    };
    metricsMetrics: {
        parameters: {
            query?: {
                name?: string[];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
        };
    };
}
