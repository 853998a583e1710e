// Package azurestore is the store on Azure Blob Storage, or on its emulator
// Azurite. It is the only package that imports the Azure blob SDK.
//
// # Addresses and credentials
//
// [Open] takes the URL of a container, and the credentials are the first of
// these that there are:
//
//   - the shared access signature in the URL, https://ACCOUNT.blob.core.windows.net/CONTAINER?SAS
//   - the token credential in [Options]
//   - AZURE_STORAGE_CONNECTION_STRING, which must be of the account in the URL
//   - AZURE_STORAGE_KEY, the key of the account in the URL
//   - whatever azidentity's DefaultAzureCredential finds: the environment, a
//     managed identity, the login of the az command
//
// An Azurite on this machine, http://127.0.0.1:10000/devstoreaccount1/CONTAINER,
// needs none: its key is public.
//
// # Requests
//
// One call of the store is one request (List: one for each 5,000 blobs). Only
// reads without conditions are repeated if they fail, up to three times; whether
// anything else may be sent again depends on what became of the first one, which
// only the caller can find out. Requests name an API version that every service
// and emulator in use accepts, whatever the version of the SDK.
//
// # Errors
//
// Errors are [*store.Error]s. An answer of the service that refuses the request
// (4xx) has a sentinel, by its code or else by its status; no answer, a time-out
// and 5xx have none, but for ServerBusy, with which the service says that it did
// nothing. The SDK's error stays reachable by errors.As. No text of an error
// holds a signature, a key or a connection string.
package azurestore
