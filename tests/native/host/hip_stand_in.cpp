// A libamdhip64.so for hosts without a GPU: the stand-in of the driver by HIP's names, with a
// compiler whose code is the text itself.
#define cuInit hipInit
#define cuDriverGetVersion hipDriverGetVersion
#define cuGetErrorName hipDrvGetErrorName
#define cuDeviceGetCount hipGetDeviceCount
#define cuDeviceGet hipDeviceGet
#define cuDeviceGetName hipDeviceGetName
#define cuDeviceGetAttribute hipDeviceGetAttribute
#define cuDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cuDevicePrimaryCtxRetain hipDevicePrimaryCtxRetain
#define cuDevicePrimaryCtxRelease_v2 hipDevicePrimaryCtxRelease
#define cuDevicePrimaryCtxSetFlags_v2 hipDevicePrimaryCtxSetFlags
#define cuCtxSetCurrent hipCtxSetCurrent
#define cuCtxGetCurrent hipCtxGetCurrent
#define cuCtxSynchronize hipCtxSynchronize
#define cuMemAlloc_v2 hipMalloc
#define cuMemFree_v2 hipFree
#define cuMemHostAlloc hipHostMalloc
#define cuMemHostGetDevicePointer_v2 hipHostGetDevicePointer
#define cuMemFreeHost hipHostFree
#define cuMemAllocManaged hipMallocManaged
#define cuMemcpyHtoD_v2 hipMemcpyHtoD
#define cuMemcpyDtoH_v2 hipMemcpyDtoH
#define cuMemcpyDtoD_v2 hipMemcpyDtoD
#define cuMemcpyHtoDAsync_v2 hipMemcpyHtoDAsync
#define cuMemcpyDtoHAsync_v2 hipMemcpyDtoHAsync
#define cuMemcpyDtoDAsync_v2 hipMemcpyDtoDAsync
#define cuMemsetD8_v2 hipMemsetD8
#define cuPointerGetAttribute hipPointerGetAttribute
#define cuStreamCreate hipStreamCreateWithFlags
#define cuStreamSynchronize hipStreamSynchronize
#define cuStreamQuery hipStreamQuery
#define cuStreamDestroy_v2 hipStreamDestroy
#define cuEventCreate hipEventCreateWithFlags
#define cuEventRecord hipEventRecord
#define cuEventSynchronize hipEventSynchronize
#define cuEventElapsedTime hipEventElapsedTime
#define cuEventDestroy_v2 hipEventDestroy
#define cuModuleLoadData hipModuleLoadData
#define cuModuleUnload hipModuleUnload
#define cuModuleGetFunction hipModuleGetFunction
#define cuLaunchKernel hipModuleLaunchKernel
#define cuIpcGetMemHandle hipIpcGetMemHandle
#define cuIpcOpenMemHandle_v2 hipIpcOpenMemHandle
#define cuIpcCloseMemHandle hipIpcCloseMemHandle
#define NHALF_STAND_IN_ENTRY "__global__ void "
#include "gpu_stand_in.cpp"

extern "C" {
int hiprtcCreateProgram(void** program, const char* text, const char*, int, const char**,
                        const char**) {
  *program = new std::string(text);
  return success;
}
int hiprtcCompileProgram(void*, int, const char**) {
  return planted("no-compiler") ? invalid_value : success;
}
int hiprtcGetCodeSize(void* program, std::size_t* size_bytes) {
  *size_bytes = static_cast<std::string*>(program)->size() + 1;
  return success;
}
int hiprtcGetCode(void* program, char* code) {
  const auto& text = *static_cast<std::string*>(program);
  std::memcpy(code, text.c_str(), text.size() + 1);
  return success;
}
int hiprtcDestroyProgram(void** program) {
  delete static_cast<std::string*>(*program);
  return success;
}
}
